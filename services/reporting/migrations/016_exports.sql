-- Bulk exports, and the files that are in the object store. Both are deleted some days after the export has ended.
create table bulk_exports (
  location_id uuid not null,
  id uuid not null,
  data text not null,
  format text not null,
  since date not null,
  until date not null,
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed', 'removed')),
  -- Null until the export first runs, and if accounts does not know it.
  currency_code text,
  key_id uuid not null,
  consumer text not null,
  -- Of the request, which the export continues.
  traceparent text,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  expires_at timestamptz,
  -- The claim of the process that runs the export. Each claim and each restart increments the number, so that a process
  -- whose claim was lost can store nothing.
  claim_number int not null default 0,
  claimed_until timestamptz,
  failed_attempts int not null default 0,
  -- The last report of which a complete file contains the rows. Null before the first file.
  done_day date,
  done_at timestamptz,
  done_report_id uuid,
  -- For clients: what was exported, also in the file that is not complete yet.
  progress_days int not null default 0,
  progress_rows bigint not null default 0,
  reports int not null default 0,
  -- JSON with a code and a message.
  failure text,
  primary key (location_id, id)
);
create index on bulk_exports (id);
create index on bulk_exports (location_id, created_at, id);
create index on bulk_exports (created_at) where state in ('queued', 'running');
create index on bulk_exports (expires_at);

create table bulk_export_files (
  location_id uuid not null,
  export_id uuid not null,
  number int not null,
  name text not null,
  object_key text not null,
  bytes bigint not null,
  rows bigint not null,
  -- Of the object, in hexadecimal.
  sha256 text not null,
  -- JSON: the sum of each summed column.
  sums text not null,
  first_day date not null,
  last_day date not null,
  -- The tills whose rows the file contains.
  till_ids uuid[] not null,
  primary key (location_id, export_id, number),
  foreign key (location_id, export_id) references bulk_exports
);

select copy_grants('tills', 'bulk_exports'), copy_grants('tills', 'bulk_export_files');
