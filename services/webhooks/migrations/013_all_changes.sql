-- The change feed of all locations. Positions of different locations are not comparable, so each row of `changes` also
-- gets a position among those of all locations, after its transaction has been committed.

-- The changes that have no position among those of all locations yet. Transactions add rows, and only one transaction at a
-- time takes them.
create table unsequenced_changes (
  id bigint generated always as identity primary key,
  location_id uuid not null,
  type text not null,
  change_id uuid not null,
  -- The position of the row in `changes`.
  location_position bigint not null,
  created_at timestamptz(3) not null default now()
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- One row for each row of `changes`, which contains everything else, and one for each location that an operator removed.
create table all_changes (
  location_id uuid not null,
  type text not null,
  id uuid not null,
  position bigint not null,
  -- The position that the row of `changes` had. If it has moved, a later position follows. 0 for a removed location, which
  -- has no row there.
  location_position bigint not null,
  -- Of a removed location: when it was removed, and the number of its last change.
  removed_at timestamptz(3),
  removed_revision int,
  primary key (location_id, type, id),
  unique (type, position)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- One row: the last position. Whoever assigns positions locks it until the transaction ends, so that positions are
-- committed in their sequence.
create table all_changes_position (
  -- Part of the checksum of cursors, so that a cursor of another installation is recognized.
  feed_id uuid primary key default gen_random_uuid(),
  position bigint not null default 0
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
insert into all_changes_position default values;

select copy_grants('outbox', 'unsequenced_changes');
select copy_grants('outbox', 'all_changes');
select copy_grants('outbox', 'all_changes_position');

-- No release contains migration 012 without this one, so that these are few rows or none.
insert into unsequenced_changes (location_id, type, change_id, location_position)
select location_id, type, id, position from changes order by position;
