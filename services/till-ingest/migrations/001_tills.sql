-- Tills as they are held now. Bodies are in object storage, under keys that contain their hash.
create table tills (
  id uuid primary key,
  location_id uuid not null,
  application text not null,
  -- In the legacy backoffice that the till comes from.
  server_id bigint,
  format text not null check (format in ('V1', 'V2')),
  -- 1 for the push, one more for each replace or reprocess.
  revision int not null,
  is_training boolean not null,
  -- SHA-256 of the body, in hexadecimal.
  hash text not null,
  object_key text not null,
  -- Of the body, in bytes.
  size int not null,
  -- Of the location, when the body was received.
  time_zone text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- The last revision that came to its end: its report was finalized, or it needs none.
  result_revision int,
  result_at timestamptz(3),
  report_id uuid,
  report_version int,
  -- When the till is announced again unless its revision has come to its end; null when it has.
  next_sweep_at timestamptz,
  sweeps int not null default 0
);
create index tills_by_location on tills (location_id, created_at, id);
create index tills_to_sweep on tills (next_sweep_at) where next_sweep_at is not null;

-- What each revision of a till was, and who brought it about.
create table till_versions (
  till_id uuid not null references tills,
  revision int not null,
  reason text not null check (reason in ('push', 'replace', 'reprocess')),
  format text not null,
  hash text not null,
  object_key text not null,
  size int not null,
  key_id uuid not null,
  consumer text not null,
  created_at timestamptz(3) not null default now(),
  primary key (till_id, revision)
);
create index till_versions_by_object on till_versions (object_key);

-- Objects that are about to be written. A row that outlives its request names an object that may belong to no till.
create table object_intents (
  key text primary key,
  created_at timestamptz not null default now()
);
create index object_intents_by_age on object_intents (created_at);
