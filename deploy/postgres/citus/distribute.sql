-- Distributes the tables of the services over the nodes of a Citus cluster, by location. Run it on the coordinator, as the
-- owner of the tables, after the migrate command:
--
--   psql --set=ON_ERROR_STOP=1 --set=namespace=pragma --file=distribute.sql <URL of the database>
--
-- Tables that are already distributed, and services whose schema is in another database, are left alone. Everything is
-- one transaction. Read the README first.
\if :{?namespace}
\else
  \set namespace pragma
\endif
begin;

create temporary table placement (
  service text not null,
  relation text not null,
  -- distributed: by location_id, colocated with all others. directory: by till_id. reference: a copy on each node. local:
  -- on the coordinator.
  kind text not null check (kind in ('distributed', 'directory', 'reference', 'local')),
  primary key (service, relation)
) on commit drop;

insert into placement (service, relation, kind) values
  -- Looked up by key hash, by name, or by the id of the legacy backoffice, before the location is known.
  ('accounts', 'locations', 'reference'),
  ('accounts', 'consumers', 'reference'),
  ('accounts', 'api_keys', 'reference'),
  ('accounts', 'devices', 'distributed'),
  ('accounts', 'request_counts_by_minute', 'distributed'),
  ('accounts', 'request_counts_by_day', 'distributed'),
  ('accounts', 'failed_requests', 'distributed'),
  -- Entries can concern no location, and are read over all locations.
  ('accounts', 'audit_events', 'local'),

  ('till_ingest', 'tills', 'distributed'),
  ('till_ingest', 'till_versions', 'distributed'),
  ('till_ingest', 'till_directory', 'directory'),
  -- Can concern all locations.
  ('till_ingest', 'till_reprocessings', 'local'),
  -- Keyed by the object, before a till refers to it. Rows are removed within a day.
  ('till_ingest', 'pending_uploads', 'local'),

  ('order_live', 'location_streams', 'distributed'),
  ('order_live', 'live_orders', 'distributed'),
  ('order_live', 'order_revisions', 'distributed'),
  ('order_live', 'final_tills', 'distributed'),
  ('order_live', 'open_shifts', 'distributed'),
  ('order_live', 'published_devices', 'distributed'),

  ('reporting', 'tills', 'distributed'),
  ('reporting', 'reports', 'distributed'),
  ('reporting', 'orders', 'distributed'),
  ('reporting', 'day_counts', 'distributed'),
  ('reporting', 'days', 'distributed'),
  ('reporting', 'metric_totals', 'distributed'),
  ('reporting', 'metric_cells', 'distributed'),
  ('reporting', 'metric_months', 'distributed'),
  ('reporting', 'shifts', 'distributed'),
  ('reporting', 'orders_without_till', 'distributed'),
  ('reporting', 'packed_tills', 'distributed'),
  ('reporting', 'packed_orders', 'distributed'),
  ('reporting', 'packed_days', 'distributed'),
  ('reporting', 'unused_objects', 'distributed'),
  ('reporting', 'accounting_configs', 'distributed'),
  ('reporting', 'e_till_figures', 'distributed'),
  ('reporting', 'e_business_locations', 'distributed'),
  ('reporting', 'e_excluded_orders', 'distributed'),
  ('reporting', 'e_changed_days', 'distributed'),
  -- All locations of a business are reported together. Few rows.
  ('reporting', 'e_declarants', 'local'),
  ('reporting', 'e_transmissions', 'local'),
  ('reporting', 'e_published_states', 'local'),
  -- A work queue: claimed with `for update skip locked` over all locations. Files refer to it. Few rows.
  ('reporting', 'exports', 'local'),
  ('reporting', 'export_files', 'local'),

  ('catalog', 'catalogs', 'distributed'),
  ('catalog', 'catalog_lists', 'distributed'),

  -- Clients choose the ids, which are unique in the installation.
  ('webhooks', 'recipients', 'reference'),
  ('webhooks', 'webhooks', 'reference'),
  ('webhooks', 'signing_secrets', 'distributed'),
  ('webhooks', 'webhook_hourly_stats', 'distributed'),
  -- The work queues: claimed with `for update skip locked` over all locations.
  ('webhooks', 'webhook_deliveries', 'local'),
  ('webhooks', 'delivery_recoveries', 'local'),
  ('webhooks', 'webhook_messages', 'distributed'),
  ('webhooks', 'attempts', 'distributed'),
  ('webhooks', 'change_positions', 'distributed'),
  ('webhooks', 'changes', 'distributed'),
  -- The positions among the changes of all locations, which are assigned and read in one sequence.
  ('webhooks', 'unsequenced_changes', 'local'),
  ('webhooks', 'all_changes', 'local'),
  ('webhooks', 'all_changes_position', 'local'),

  ('jobs', 'location_jobs', 'distributed'),

  ('sandboxes', 'messages', 'distributed'),
  ('sandboxes', 'sandboxes', 'local');

-- The tables that every service has. Events and idempotency keys are keyed by their own ids, and are short-lived.
insert into placement (service, relation, kind)
select service, relation, kind
from (select distinct service from placement) as services, (values
  ('migrations', 'local'),
  ('outbox', 'local'),
  ('sent_events', 'local'),
  ('inbox', 'local'),
  ('erased_orders', 'local'),
  ('dead_letters', 'local'),
  ('event_attempts', 'local'),
  ('idempotent_requests', 'local'),
  ('daily_usage', 'distributed'),
  -- Used only with DATABASE_READ_URL.
  ('location_writes', 'local'),
  -- Triggers on the nodes read it.
  ('removed_locations', 'reference'),
  ('replica_heartbeat', 'local')
) as common (relation, kind);

-- The value of the psql variable, for the block below, in which psql replaces no variables.
select set_config('pragma.namespace', :'namespace', true);

do $$
declare
  namespace text := current_setting('pragma.namespace');
  -- The first distributed table. All others are colocated with it.
  first_table text;
  foreign_key record;
  target record;
begin
  -- Triggers reject rows of removed locations. They read only a reference table, so they may run on the nodes.
  set local citus.enable_unsafe_triggers = on;

  -- Foreign keys are created again at the end, because a table cannot be distributed while its keys lead to tables that
  -- are not distributed yet.
  create temporary table foreign_keys on commit drop as
  select distinct conrelid::regclass::text as relation, conname as name, pg_get_constraintdef(c.oid) as definition
  from pg_constraint c
  join placement p on conrelid = to_regclass(format('%I.%I', namespace || '_' || p.service, p.relation))
  where contype = 'f' and conparentid = 0 and p.kind <> 'local'
    and not exists (select from pg_dist_partition where logicalrelid = conrelid);
  for foreign_key in select * from foreign_keys loop
    execute format('alter table %s drop constraint %I', foreign_key.relation, foreign_key.name);
  end loop;

  select logicalrelid::text into first_table
  from pg_dist_partition
  join placement p on logicalrelid = to_regclass(format('%I.%I', namespace || '_' || p.service, p.relation))
  where p.kind = 'distributed' limit 1;

  for target in
    select kind, to_regclass(format('%I.%I', namespace || '_' || service, relation))::text as relation
    from placement where kind <> 'local' order by kind desc, service, relation
  loop
    continue when target.relation is null
      or exists (select from pg_dist_partition where logicalrelid = target.relation::regclass);
    -- Shards replace the partitions of one server.
    if (select relkind = 'p' from pg_class where oid = target.relation::regclass) then
      execute format('create table %1$s_plain (like %1$s including all)', target.relation);
      execute format('select %s.copy_grants(%L, %L)',
        split_part(target.relation, '.', 1), target.relation, target.relation || '_plain');
      execute format('insert into %1$s_plain select * from %1$s', target.relation);
      execute format('drop table %s', target.relation);
      execute format('alter table %s_plain rename to %I', target.relation, split_part(target.relation, '.', 2));
    end if;
    if target.kind = 'directory' then
      perform create_distributed_table(target.relation::regclass, 'till_id', colocate_with => 'none');
    elsif target.kind = 'reference' then
      perform create_reference_table(target.relation::regclass);
    else
      perform create_distributed_table(
        target.relation::regclass, 'location_id', colocate_with => coalesce(first_table, 'none')
      );
      first_table := coalesce(first_table, target.relation);
    end if;
  end loop;

  for foreign_key in select * from foreign_keys loop
    execute format('alter table %s add constraint %I %s', foreign_key.relation, foreign_key.name, foreign_key.definition);
  end loop;
end
$$;

commit;
