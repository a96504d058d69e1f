-- Lets reads use a replica that has everything that was written for their location (database/read-replica.ts).

-- One row for each transaction that changes what a location's reads return. A replica that has the row also has the
-- other changes of its transaction. Instances of the previous version write no rows.
create table location_writes (
  location_id uuid not null,
  id bigint generated always as identity,
  written_at timestamptz not null default clock_timestamp(),
  primary key (location_id, id)
);
create index location_writes_by_time on location_writes (written_at);
select set_storage_parameters('location_writes', 'autovacuum_vacuum_scale_factor = 0.02');

-- The latest time of the primary server. It shows how much of the past a replica has for certain.
create table replica_heartbeat (
  id boolean primary key default true check (id),
  beat_at timestamptz not null
);
