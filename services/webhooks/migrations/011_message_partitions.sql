-- The keys of deliveries, messages and attempts begin with the location. Messages and attempts, which contain bodies and
-- responses, are partitioned by the UTC day on which the message was created, so that a day is removed at once.

lock table messages, deliveries, attempts in access exclusive mode;

-- Renamed, because the columns that are added would make `location_id` ambiguous in statements of version 1.0, which join
-- these tables with webhooks. A later version drops the views.
alter table messages rename to webhook_messages;
create view messages as
  select id, body, created_at, traceparent, subject from webhook_messages;
select copy_grants('webhook_messages', 'messages');
alter table deliveries rename to webhook_deliveries;
create view deliveries as
  select
    id, message_id, webhook_id, event, state, generation, attempt, failures, due_at, settled_at, created_at, again,
    retry_requested
  from webhook_deliveries;
select copy_grants('webhook_deliveries', 'deliveries');

-- A message is inserted in the statement that inserts its deliveries. A foreign key to it would let the removal of a
-- day's messages search and lock deliveries.
alter table webhook_deliveries
  drop constraint deliveries_message_id_fkey,
  add column location_id uuid,
  add foreign key (location_id, webhook_id) references webhooks not valid;
alter table webhook_messages add column location_id uuid, add column created_on date;
-- The day of the message, which is also the day of created_at of the delivery.
alter table attempts add column location_id uuid, add column created_on date;

-- Triggers set the locations and days of rows that version 1.0 inserts. Their tables are replaced below, or by
-- `npm run ops -- partition-tables`. A later version drops their functions.
create trigger set_location_of_webhook before insert on webhook_deliveries for each row
  when (new.location_id is null)
  execute function set_location_of_webhook();

create function set_message_location() returns trigger language plpgsql as $$
begin
  new.location_id := (new.body::json #>> '{data,locationId}')::uuid;
  new.created_on := (new.created_at at time zone 'UTC')::date;
  return new;
end
$$;
create trigger set_message_location before insert on webhook_messages for each row
  when (new.location_id is null)
  execute function set_message_location();

create function set_attempt_location() returns trigger language plpgsql as $$
begin
  select w.location_id, (d.created_at at time zone 'UTC')::date into new.location_id, new.created_on
  from webhook_deliveries d join webhooks w on w.id = d.webhook_id where d.id = new.delivery_id;
  -- The delivery has been removed together with its other attempts.
  if new.location_id is null then return null; end if;
  return new;
end
$$;
create trigger set_attempt_location before insert on attempts for each row
  when (new.location_id is null)
  execute function set_attempt_location();

-- One row: how far a periodic task has come, which sets the locations and days of existing rows.
create table message_location_backfill (
  -- The table that the task reads, in the sequence deliveries, messages, attempts.
  step text not null default 'webhook_deliveries' check (step in ('webhook_deliveries', 'webhook_messages', 'attempts')),
  -- The id of the last delivery or message that it has processed in this step.
  last_id uuid,
  finished_at timestamptz
);
select copy_grants('webhook_messages', 'message_location_backfill');

-- Few rows need no task. No row is missed, because this migration locks the tables until it commits.
do $$
declare
  has_few_rows boolean := (
    select count(*) <= 10000 from (
      (select from webhook_deliveries limit 10001) union all (select from webhook_messages limit 10001)
      union all (select from attempts limit 10001)
    ) counted
  );
begin
  if has_few_rows then
    update webhook_deliveries d set location_id = w.location_id from webhooks w where w.id = d.webhook_id;
    update webhook_messages m set location_id = d.location_id, created_on = (m.created_at at time zone 'UTC')::date
    from webhook_deliveries d where d.message_id = m.id;
    update attempts a set location_id = d.location_id, created_on = (d.created_at at time zone 'UTC')::date
    from webhook_deliveries d where d.id = a.delivery_id;
    -- Only deliveries lead to messages and attempts.
    delete from webhook_messages where location_id is null;
    delete from attempts where location_id is null;
  end if;
  insert into message_location_backfill (finished_at) values (case when has_few_rows then now() end);
end
$$;

-- Returns why `npm run ops -- partition-tables` must wait: a row without a location or a day has no place.
create function find_partitioning_obstacle() returns text language sql as $$
  select 'webhooks has not finished setting the location of existing deliveries'
  where exists (select from message_location_backfill where finished_at is null)
$$;

-- Deliveries stay one table, although `partition-tables` finds the table by this suffix (docs/decisions/0020).
create table webhook_deliveries_partitioned (
  id uuid not null,
  location_id uuid not null,
  message_id uuid not null,
  webhook_id uuid not null,
  event text not null,
  state text not null check (state in ('pending', 'sending', 'succeeded', 'failed')),
  -- Incremented by each replay and recovery.
  generation int not null,
  -- Number of the attempt in this generation that is in flight or comes next.
  attempt int not null,
  -- Number of attempts of this generation that have failed.
  failures int not null,
  -- pending: when the delivery is due; sending: when the lease expires.
  due_at timestamptz(3) check ((due_at is not null) = (state in ('pending', 'sending'))),
  settled_at timestamptz(3),
  created_at timestamptz(3) not null,
  -- Used by version 1.0 only.
  again boolean not null default false,
  retry_requested boolean not null default false check (not retry_requested or state = 'sending'),
  primary key (location_id, id),
  unique (location_id, message_id, webhook_id),
  foreign key (location_id, webhook_id) references webhooks
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
-- For operators, who read a delivery by its id alone.
create index on webhook_deliveries_partitioned (id);
create index on webhook_deliveries_partitioned (webhook_id, created_at, id) include (event, state);
create index on webhook_deliveries_partitioned (webhook_id, due_at) where state = 'pending';
create index on webhook_deliveries_partitioned (due_at) where state = 'sending';
create index on webhook_deliveries_partitioned (created_at);
create index on webhook_deliveries_partitioned (due_at) where state = 'pending' and event = 'test';
create index on webhook_deliveries_partitioned (webhook_id) where state = 'sending' and event = 'test';

create table webhook_messages_partitioned (
  like webhook_messages including defaults including storage including compression,
  primary key (location_id, id, created_on)
) partition by range (created_on);
create index on webhook_messages_partitioned (subject);
-- Rows of days that have no partition yet.
create table webhook_messages_default partition of webhook_messages_partitioned default;

create table attempts_partitioned (
  like attempts including defaults including storage including compression,
  primary key (location_id, delivery_id, created_on, generation, number)
) partition by range (created_on);
create table attempts_default partition of attempts_partitioned default;

do $$
declare
  base text;
begin
  foreach base in array '{webhook_deliveries, webhook_messages, attempts}'::text[] loop
    perform copy_grants(base::regclass, (base || '_partitioned')::regclass);
    if base <> 'webhook_deliveries' then perform copy_grants(base::regclass, (base || '_default')::regclass); end if;
  end loop;
end
$$;

-- Creates the partitions of these days and of all days in the default partitions, and moves rows there. Returns the
-- names of the new partitions. `security definer` lets the role of a service call it, which owns no tables. It fails
-- rather than letting other statements wait for long.
create function create_day_partitions(first_day date, last_day date) returns text[] language plpgsql
security definer set lock_timeout = '200ms' as $$
declare
  base text;
  parent text;
  partition text;
  default_partition text;
  day date;
  created text[] := '{}';
begin
  perform pg_advisory_xact_lock(hashtext(current_schema() || ' day partitions'));
  foreach base in array '{webhook_messages, attempts}'::text[] loop
    select relname into parent from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'p' and relname in (base, base || '_partitioned');
    continue when parent is null;
    default_partition := base || '_default';
    for day in execute format(
      'select generate_series($1, $2, interval ''1 day'')::date union select created_on from %I', default_partition)
      using first_day, last_day
    loop
      partition := base || to_char(day, '"_"YYYYMMDD');
      continue when to_regclass(format('%I', partition)) is not null;
      -- Rows of the day that are inserted meanwhile would have to be moved, too.
      execute format('lock table %I in access exclusive mode', default_partition);
      execute format('create table %I (like %I including all)', partition, parent);
      execute format(
        'with moved as (delete from %I where created_on = %L returning *) insert into %I select * from moved',
        default_partition, day, partition);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)',
        parent, partition, day, day + 1);
      perform copy_grants(parent::regclass, partition::regclass);
      created := created || partition;
    end loop;
  end loop;
  return created;
end
$$;

-- Drops the oldest partition of a day before `before` on which no delivery was created that still exists. Returns its
-- name, or null if there is none. Statements wait for the lock of the table for at most the timeout.
create function drop_day_partition(before date) returns text language plpgsql
security definer set lock_timeout = '200ms' as $$
declare
  partition text;
  day date;
begin
  perform pg_advisory_xact_lock(hashtext(current_schema() || ' day partitions'));
  for partition, day in
    select child.relname, to_date(right(child.relname, 8), 'YYYYMMDD')
    from pg_inherits
    join pg_class child on child.oid = inhrelid
    join pg_class parent on parent.oid = inhparent
    where parent.relnamespace = current_schema()::regnamespace and parent.relname in ('webhook_messages', 'attempts')
      and child.relname ~ '^(webhook_messages|attempts)_\d{8}$'
    order by 2, 1
  loop
    exit when day >= before;
    continue when exists (
      select from webhook_deliveries
      where created_at >= day::timestamp at time zone 'UTC' and created_at < (day + 1)::timestamp at time zone 'UTC'
    );
    execute format('drop table %I', partition);
    return partition;
  end loop;
  return null;
end
$$;

do $$
declare
  first_day date := coalesce(
    (select (min(created_at) at time zone 'UTC')::date from webhook_messages), (now() at time zone 'UTC')::date);
begin
  -- The functions must not find objects of their caller.
  execute format('alter function create_day_partitions(date, date) set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_day_partition(date) set search_path = %I, pg_temp', current_schema());
  -- More than the longest retention, with the days ahead that the periodic task creates.
  perform create_day_partitions(
    greatest(first_day, (now() at time zone 'UTC')::date - 370), (now() at time zone 'UTC')::date + 7);
end
$$;

select replace_empty_tables('{webhook_messages, webhook_deliveries, attempts}');
