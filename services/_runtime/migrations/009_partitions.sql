-- Functions for tables that are partitioned by location. A service's migration creates `<table>_partitioned`, which has
-- the columns of `<table>`, and calls create_location_partitions. Empty tables are replaced at once by
-- replace_empty_tables. Other tables are replaced by `npm run ops -- partition-tables`.

-- Creates the 32 hash partitions of `<name>_partitioned`: `<name>_p00` to `<name>_p31`. They get the storage parameters
-- of the table that they replace, because a partitioned table has no storage parameters of its own.
create function create_location_partitions(name text) returns void language plpgsql as $$
declare
  partition text;
  parameters text := (select array_to_string(reloptions, ', ') from pg_class where oid = name::regclass);
begin
  perform copy_grants(name::regclass, format('%I', name || '_partitioned')::regclass);
  for number in 0 .. 31 loop
    partition := name || '_p' || lpad(number::text, 2, '0');
    execute format('create table %I partition of %I for values with (modulus 32, remainder %s) %s',
      partition, name || '_partitioned', number, 'with (' || parameters || ')');
    perform copy_grants(name::regclass, partition::regclass);
  end loop;
end
$$;

-- Returns whether a process of version 1.0 is connected. Its statements name unique keys without a location, which
-- partitioned tables do not have. The pools of later versions include the version in their application_name.
create function is_version_1_0_connected() returns boolean language sql as $$
  select exists (
    select from pg_stat_activity
    where datname = current_database() and application_name ~ ('^' || current_schema() || ' [0-9a-f]{8}$')
  )
$$;

-- Replaces tables by their partitioned tables, which must have the same rows. The caller must have locked the tables.
-- The replaced tables are kept as `<table>_unpartitioned`.
create function swap_partitioned_tables(names text[]) returns void language plpgsql as $$
declare
  name text;
begin
  foreach name in array names loop
    execute format('alter table %I rename to %I', name, name || '_unpartitioned');
    execute format('alter table %I rename to %I', name || '_partitioned', name);
  end loop;
end
$$;

-- Replaces tables by their partitioned tables if all of them are empty and no process of version 1.0 uses them.
create function replace_empty_tables(names text[]) returns void language plpgsql as $$
declare
  name text;
  has_rows boolean;
begin
  if is_version_1_0_connected() then return; end if;
  foreach name in array names loop
    execute format('lock table %I in access exclusive mode', name);
    execute format('select exists (select from %I)', name) into has_rows;
    if has_rows then return; end if;
  end loop;
  perform swap_partitioned_tables(names);
  foreach name in array names loop
    execute format('drop table %I cascade', name || '_unpartitioned');
  end loop;
end
$$;
