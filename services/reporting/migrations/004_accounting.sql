-- What journal entries need to know of a till beyond its report. Null: the report was made before this was noted.
alter table reports add column accounting_facts text compression lz4;

-- How reports become journal entries. The body is the reply that is sent.
create table accounting_configs (
  id uuid primary key,
  location_id uuid not null,
  created_at timestamptz(3) not null,
  body text compression lz4 not null,
  etag text not null
);
create index accounting_configs_by_time on accounting_configs (location_id, created_at, id);

-- Exports that were asked for. One is made by whoever has claimed it, for as long as the claim lasts; each claim is an
-- attempt, and only the latest may write what came of it.
create table accounting_exports (
  id uuid primary key,
  -- Whose it is; null when it is of several locations.
  location_id uuid,
  key_id uuid not null,
  consumer text not null,
  state text not null check (state in ('pending', 'running', 'done', 'failed')),
  attempt int not null default 0,
  claimed_until timestamptz,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3)
);
create index accounting_exports_to_do on accounting_exports (created_at) where state in ('pending', 'running');

-- One file for each location, config and provider of an export, with the config as it was when the export was asked for.
create table accounting_files (
  export_id uuid not null references accounting_exports,
  number int not null,
  location_id uuid not null,
  config_id uuid not null,
  provider text not null,
  config text compression lz4 not null,
  name text,
  etag text,
  entries int,
  -- Null as long as the export has not come to its end, and when none of its tills could be exported.
  content bytea compression lz4,
  primary key (export_id, number)
);

create table accounting_items (
  export_id uuid not null references accounting_exports,
  -- In the order in which the tills were named.
  position int not null,
  till_id uuid not null,
  file_number int not null,
  state text not null default 'pending' check (state in ('pending', 'done', 'failed')),
  -- Why it failed, as it is shown.
  failure text,
  primary key (export_id, position),
  foreign key (export_id, file_number) references accounting_files
);
