-- What a failed request contained, for the developer who looks for its cause: never its body, secrets or personal data.

alter table failed_requests
  -- The path without its query. Parts that may be personal data or secrets are replaced.
  add column path text not null default '',
  -- [{in, path, code, message}], the first issues of an invalid request, without received values.
  add column issues jsonb not null default '[]',
  -- The size of the body that the client announced.
  add column request_bytes bigint;
