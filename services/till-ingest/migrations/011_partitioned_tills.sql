-- Tills and their revisions are partitioned by location. Keys begin with the location.
create table tills_partitioned (
  like tills including defaults including constraints including storage including compression,
  primary key (location_id, id)
) partition by hash (location_id);
create index on tills_partitioned (location_id, created_at, id);
create index on tills_partitioned (location_id, server_id) where server_id is not null;
create index on tills_partitioned (next_requeue_at) where next_requeue_at is not null;
select create_location_partitions('tills');

create table till_versions_partitioned (
  like till_versions including defaults including constraints including storage including compression,
  primary key (location_id, till_id, revision),
  foreign key (location_id, till_id) references tills_partitioned
) partition by hash (location_id);
create index on till_versions_partitioned (location_id, object_key);
create index on till_versions_partitioned (created_at) where body_removed_at is null;
create index on till_versions_partitioned (created_at) where body_removed_at is null and object_key not like '%.br';
select create_location_partitions('till_versions');

-- A reprocessing of all locations reads the partitions one after the other, and each partition by location and id.
alter table till_reprocessings add column last_partition text, add column last_location_id uuid;

-- Returns why `npm run ops -- partition-tables` must wait: a revision without a location has no partition.
create function find_partitioning_obstacle() returns text language sql as $$
  select 'till-ingest has not finished setting the location of existing tills and their revisions'
  where exists (select from till_location_backfill where finished_at is null)
$$;

select replace_empty_tables('{tills, till_versions}');
