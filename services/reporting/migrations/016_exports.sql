-- Bulk exports and accounting exports, which are deleted some days after their end.
create table exports (
  id uuid primary key,
  kind text not null check (kind in ('bulk', 'accounting')),
  -- Null for an accounting export with tills of several locations.
  location_id uuid,
  key_id uuid not null,
  consumer text not null,
  -- What to export, as the kind defines it.
  request json not null,
  -- Of the request, which the export continues.
  traceparent text,
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed', 'removed')),
  created_at timestamptz(3) not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  expires_at timestamptz,
  -- The claim of the process that runs the export. Each claim and each restart increments the number, so that a process
  -- whose claim was lost can store nothing.
  claim_number int not null default 0,
  claimed_until timestamptz,
  failed_attempts int not null default 0,
  -- How far the export is, as the kind defines it. Empty before it first runs.
  progress json not null default '{}',
  failure json
);
create index on exports (location_id, created_at, id);
create index on exports (created_at) where state in ('queued', 'running');
create index on exports (expires_at);

-- The files of exports, whose content is in the object store. An export that contains tills of several locations has
-- files of these locations.
create table export_files (
  export_id uuid not null references exports,
  number int not null,
  location_id uuid not null,
  -- What the kind stores of a file: the rows and sums of a bulk export, or the tills of an accounting export.
  details json compression lz4 not null,
  -- Null, as the columns below, until the file is written. The files of accounting exports are known before.
  name text,
  object_key text,
  bytes bigint,
  -- Of the object, in hexadecimal.
  sha256 text,
  -- The tills whose personal data the file contains. Null for accounting exports, whose files contain none.
  till_ids uuid[],
  primary key (export_id, number)
);
create index on export_files (location_id);

select copy_grants('tills', 'exports'), copy_grants('tills', 'export_files');
