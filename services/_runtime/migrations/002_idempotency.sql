-- What was answered to requests that carried an Idempotency-Key, written in the transaction of their effect.
create table idempotency_keys (
  -- Whose key it is: the consumer, and the location that it acts for.
  owner text not null,
  key text not null,
  -- SHA-256 of the operation and the body.
  fingerprint text not null,
  status int not null,
  -- The reply: headers and body, encrypted.
  sealed_reply text not null,
  answered_at timestamptz not null default now(),
  primary key (owner, key)
);
create index idempotency_keys_by_age on idempotency_keys (answered_at);
