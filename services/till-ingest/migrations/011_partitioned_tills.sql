-- Creates `tills` and `till_versions` partitioned by location, with the location first in their keys. They replace the
-- existing tables at once if these are empty. Otherwise, `npm run ops -- partition-tables` copies the rows first.
create table tills_partitioned (
  like tills including defaults including constraints,
  primary key (location_id, id)
) partition by hash (location_id);
create table till_versions_partitioned (
  like till_versions including defaults including constraints,
  primary key (location_id, till_id, revision),
  foreign key (location_id, till_id) references tills_partitioned
) partition by hash (location_id);

do $$
begin
  for number in 0..31 loop
    execute format(
      'create table tills_p%s partition of tills_partitioned for values with (modulus 32, remainder %s)',
      lpad(number::text, 2, '0'), number
    );
    execute format(
      'create table till_versions_p%s partition of till_versions_partitioned for values with (modulus 32, remainder %s)',
      lpad(number::text, 2, '0'), number
    );
  end loop;
end
$$;

create index tills_partitioned_by_location on tills_partitioned (location_id, created_at, id);
create index tills_partitioned_by_server on tills_partitioned (location_id, server_id) where server_id is not null;
create index tills_partitioned_to_requeue on tills_partitioned (next_requeue_at) where next_requeue_at is not null;
create index till_versions_partitioned_by_object on till_versions_partitioned (location_id, object_key);
create index till_versions_partitioned_superseded on till_versions_partitioned (created_at)
  where body_removed_at is null;
create index till_versions_partitioned_uncompressed on till_versions_partitioned (created_at)
  where body_removed_at is null and object_key not like '%.br';
select copy_grants('tills', 'tills_partitioned'), copy_grants('till_versions', 'till_versions_partitioned');

-- A reprocessing of all locations walks the partitions one after the other, and each partition by location and id.
alter table till_reprocessings add column last_partition text, add column last_location_id uuid;

-- contracts: unused since 1.1 (the tables are removed only while they are empty)
do $$
begin
  if exists (select from tills) then
    return;
  end if;
  lock table tills, till_versions in access exclusive mode;
  if exists (select from tills) then
    return;
  end if;
  drop table till_versions, tills;
  drop function copy_till_requeue, claim_till_id, set_till_version_location;
  alter table tills_partitioned rename to tills;
  alter table till_versions_partitioned rename to till_versions;
end
$$;
