-- Vacuums the tables whose rows are often updated or deleted before they grow. By default, PostgreSQL waits until a fifth
-- of a table's rows are dead.

-- Sets storage parameters of a table. If the table is partitioned, sets them for each partition, because a partitioned
-- table itself cannot have any.
create function set_storage_parameters(target regclass, parameters text) returns void language plpgsql as $$
declare
  stored regclass;
begin
  for stored in
    select oid from pg_class where oid = target and relkind = 'r'
    union all select relid from pg_partition_tree(target) where isleaf and relid <> target
  loop
    execute format('alter table %s set (%s)', stored, parameters);
  end loop;
end
$$;

-- Every event is inserted and deleted within seconds. How many rows an outage has once left here must not decide when
-- dead rows are removed, because the relay's index scan reads past them.
select set_storage_parameters('outbox', $$
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 500,
  toast.autovacuum_vacuum_cost_delay = 0 $$);

-- Holds two weeks of events, of which an hour's share is deleted at a time: a fifth would be three days.
select set_storage_parameters('inbox', 'autovacuum_vacuum_scale_factor = 0.02');

-- Rows last for one delivery. An update changes the count only, and with free space on the page it changes no index.
select set_storage_parameters('event_attempts', $$
  fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500 $$);

-- Each row is updated once, when its response is stored, and deleted a day later. The update changes an indexed column,
-- so that free space on the page would not help.
select set_storage_parameters('idempotent_requests', $$
  autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_scale_factor = 0.05 $$);

-- One row for a location and day is updated by every request that counts. Rows of past days must not keep autovacuum
-- from removing its dead rows. The updates change no indexed column, and find the room that earlier ones left.
select set_storage_parameters('daily_usage', 'autovacuum_vacuum_scale_factor = 0.02');
