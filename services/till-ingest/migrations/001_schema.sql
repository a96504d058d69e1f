-- Tills and their revisions. Their bodies are in the object store, under keys that contain their hash. Tables with a row for
-- each till or revision are partitioned by location, and their keys begin with the location.

-- The location of each till id. Till ids are unique over all locations, and a key of `tills` cannot guarantee this, because
-- it contains the location. A push inserts this row first.
create table till_directory (till_id uuid primary key, location_id uuid not null) partition by hash (till_id);
select create_location_partitions('till_directory');

-- Tills as they are now.
create table tills (
  location_id uuid not null,
  id uuid not null,
  application text not null,
  -- The id of the till in the legacy backoffice from which it was fetched.
  server_id bigint,
  format text not null check (format in ('V1', 'V2')),
  -- 1 for the push, one more for each replacement or reprocessing.
  revision int not null,
  is_training boolean not null,
  -- SHA-256 of the body, in hexadecimal.
  hash text not null,
  -- Of the body as it was pushed, if personal data of the till was erased since: pushing it again changes nothing.
  pushed_hash text,
  object_key text not null,
  -- Of the body, in bytes.
  size int not null,
  order_count int not null,
  -- Of the location, when the body was received.
  time_zone text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- The last revision whose report was finalized, or that needs none.
  result_revision int,
  result_at timestamptz(3),
  report_id uuid,
  report_version int,
  -- The last revision whose report could not be computed, and why: a name in tillReportParkedReasons.
  parked_revision int,
  parked_reason text,
  -- The last revision that erased personal data; null if there is none.
  erased_revision int,
  -- When `till.pushed` is published again if the revision has no result; null if it has one.
  next_requeue_at timestamptz,
  requeue_count int not null default 0,
  primary key (location_id, id)
) partition by hash (location_id);
create index tills_by_location on tills (location_id, created_at, id);
-- Shows which tills of a legacy backoffice were fetched already.
create index tills_by_server on tills (location_id, server_id) where server_id is not null;
create index tills_to_requeue on tills (next_requeue_at) where next_requeue_at is not null;
select create_location_partitions('tills');

-- What each revision of a till was, and who created it.
create table till_versions (
  location_id uuid not null,
  till_id uuid not null,
  revision int not null,
  reason text not null check (reason in ('push', 'replace', 'reprocess')),
  format text not null,
  hash text not null,
  object_key text not null,
  size int not null,
  key_id uuid not null,
  consumer text not null,
  created_at timestamptz(3) not null default now(),
  -- When the body was removed because it is no longer needed.
  body_removed_at timestamptz,
  primary key (location_id, till_id, revision),
  foreign key (location_id, till_id) references tills
) partition by hash (location_id);
create index till_versions_by_object on till_versions (location_id, object_key);
create index till_versions_superseded on till_versions (created_at) where body_removed_at is null;
select create_location_partitions('till_versions');

-- Objects that are about to be written. A row that outlives its request names an object that may belong to no till. Every
-- upload inserts a row and deletes it within seconds. How many rows an outage has once left here must not decide when dead
-- rows are removed.
create table pending_uploads (
  key text primary key,
  created_at timestamptz not null default now(),
  -- Since when the object is being removed: what is pushed meanwhile is written under another key.
  removal_claimed_at timestamptz
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
create index pending_uploads_by_age on pending_uploads (created_at);

-- Requests to reprocess every till whose report was computed by a version up to the given one. They are worked off in
-- batches, each with the place that it has reached: any instance continues where the last one stopped.
create table till_reprocessings (
  id uuid primary key,
  -- Null: of all locations.
  location_id uuid,
  lte_report_version int not null,
  -- Only the tills that were computed in another time zone than this one. Null: in any time zone.
  time_zone text,
  key_id uuid not null,
  consumer text not null,
  total int not null,
  requeued_count int not null default 0,
  -- The last till that was requeued. A reprocessing of all locations reads the partitions one after the other, and each
  -- partition by location and id.
  last_partition text,
  last_location_id uuid,
  last_till_id uuid,
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create index till_reprocessings_unfinished on till_reprocessings (created_at) where finished_at is null;
