-- The location of each till id. Till ids are unique over all locations, and `tills` can no longer guarantee this once
-- it is partitioned by location.
create table till_directory (till_id uuid primary key, location_id uuid not null) partition by hash (till_id);
do $$
begin
  for number in 0..31 loop
    execute format(
      'create table till_directory_p%s partition of till_directory for values with (modulus 32, remainder %s)',
      lpad(number::text, 2, '0'), number
    );
  end loop;
end
$$;
select copy_grants('tills', 'till_directory');

-- Inserts the directory row of a till that an instance of the previous version inserts. Skips the insertion if another
-- location uses the id. The row comes first, as in the new version, so that concurrent pushes of both versions wait
-- for each other instead of causing a deadlock.
create function claim_till_id() returns trigger language plpgsql as $$
declare
  owner uuid;
begin
  select location_id into owner from till_directory where till_id = new.id;
  if owner is null then
    -- A till from before the migration. The insertion fails or has no effect, so it must not claim the id.
    if exists (select from tills where id = new.id) then
      return new;
    end if;
    insert into till_directory (till_id, location_id) values (new.id, new.location_id) on conflict (till_id) do nothing;
    select location_id into owner from till_directory where till_id = new.id;
  end if;
  if owner = new.location_id then
    return new;
  end if;
  return null;
end
$$;
create trigger claim_till_id before insert on tills for each row execute function claim_till_id();

alter table till_versions add column location_id uuid;

-- Sets the location of a revision that an instance of the previous version inserts.
create function set_till_version_location() returns trigger language plpgsql as $$
begin
  select location_id into new.location_id from tills where id = new.till_id;
  return new;
end
$$;
create trigger set_till_version_location before insert on till_versions for each row
  when (new.location_id is null)
  execute function set_till_version_location();

-- One row: how far a periodic task has come, which inserts the directory rows of existing tills and sets the location
-- of their revisions, in the sequence of till ids.
create table till_location_backfill (
  last_till_id uuid,
  finished_at timestamptz
);
select copy_grants('tills', 'till_location_backfill');

-- Few tills need no task. No till is missed, because the triggers above hold locks until this migration commits.
do $$
declare
  has_few_tills boolean := (select count(*) <= 10000 from (select from tills limit 10001) counted);
begin
  if has_few_tills then
    insert into till_directory (till_id, location_id) select id, location_id from tills;
    update till_versions set location_id = tills.location_id from tills where tills.id = till_versions.till_id;
  end if;
  insert into till_location_backfill (finished_at) values (case when has_few_tills then now() end);
end
$$;
