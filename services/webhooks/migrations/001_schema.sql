-- Recipients and webhooks, the messages that are sent to them and the attempts to deliver them, and the change feed. All
-- keys begin with the location.

-- Recipients and webhooks. They are few.

create table recipients (
  location_id uuid not null,
  id uuid not null,
  name text not null,
  -- What is sent as the header authorization, encrypted.
  encrypted_api_key text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (location_id, id)
);
-- Clients choose the ids of recipients and webhooks. An id is unique in the installation, so that operators, whose keys
-- have locations:any, find a row by its id alone.
create unique index recipients_by_id on recipients (id);
create index recipients_of_location on recipients (location_id, created_at, id);

-- The secrets with which messages are signed. A secret that was rotated signs until it expires.
create table signing_secrets (
  location_id uuid not null,
  recipient_id uuid not null,
  -- 1, 2, 3: the highest version is the latest.
  version int not null,
  encrypted_secret text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  primary key (location_id, recipient_id, version),
  foreign key (location_id, recipient_id) references recipients on delete cascade
);

create table webhooks (
  location_id uuid not null,
  id uuid not null,
  recipient_id uuid not null,
  endpoint_url text not null,
  events text[] not null,
  -- deleted: no longer returned, and removed together with its deliveries.
  state text not null check (state in ('active', 'paused', 'disabled', 'deleted')),
  disabled_reason text check ((disabled_reason is not null) = (state = 'disabled')),
  -- Incremented when it changes what is sent where, or with which signature: shows whether a copy is up to date.
  revision int not null,
  -- When the first attempt failed since the last that succeeded, and why the latest did.
  failing_since timestamptz(3),
  last_error text,
  -- When the recipient's other endpoints were notified that this one is failing.
  warned_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (location_id, id),
  foreign key (location_id, recipient_id) references recipients
);
create unique index webhooks_by_id on webhooks (id);
create index webhooks_of_location on webhooks (location_id, created_at, id);
create index webhooks_of_recipient on webhooks (recipient_id);
create index webhooks_deleted on webhooks (id) where state = 'deleted';

-- The results of attempts, by hour.
create table webhook_hourly_stats (
  location_id uuid not null,
  webhook_id uuid not null,
  hour timestamptz not null,
  succeeded int not null,
  failed int not null,
  milliseconds bigint not null,
  last_succeeded_at timestamptz(3),
  last_failed_at timestamptz(3),
  primary key (location_id, webhook_id, hour),
  foreign key (location_id, webhook_id) references webhooks on delete cascade
);
create index webhook_hourly_stats_by_hour on webhook_hourly_stats (hour);

-- Messages. Messages and attempts, which contain bodies and responses, are partitioned by the UTC day on which the message
-- was created, so that a day is removed at once. Deliveries stay one table (docs/decisions/0020).

-- What is sent, once for all webhooks to which it is sent. A message is inserted in the statement that inserts its
-- deliveries. A foreign key to it would let the removal of a day's messages search and lock deliveries.
create table webhook_messages (
  location_id uuid not null,
  id uuid not null,
  created_on date not null,
  created_at timestamptz(3) not null,
  -- The id of the order in the body; the id of the message if the body contains no order.
  subject uuid not null,
  body text compression lz4 not null,
  -- The trace (W3C traceparent) of the event, which deliveries continue.
  traceparent text,
  primary key (location_id, id, created_on)
) partition by range (created_on);
create index webhook_messages_by_subject on webhook_messages (subject);
-- Rows of days that have no partition yet.
create table webhook_messages_default partition of webhook_messages default;

-- Each delivery is updated at least twice, when it is claimed and when it ends. Both updates change the index of due
-- deliveries, so that free space on the page would not help, and claims read past its dead entries. Because of the long
-- retention, the default fifth would be the deliveries of a week.
create table webhook_deliveries (
  location_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  message_id uuid not null,
  event text not null,
  state text not null check (state in ('pending', 'sending', 'succeeded', 'failed')),
  -- Incremented by each replay and recovery.
  generation int not null,
  -- Number of the attempt in this generation that is in flight or comes next.
  attempt int not null,
  -- Number of attempts of this generation that have failed.
  failures int not null,
  -- Whether a new generation starts if the attempt in flight fails, because a recovery was requested in the meantime.
  retry_requested boolean not null default false check (not retry_requested or state = 'sending'),
  -- pending: when the delivery is due; sending: when the lease expires.
  due_at timestamptz(3) check ((due_at is not null) = (state in ('pending', 'sending'))),
  settled_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (location_id, id),
  unique (location_id, message_id, webhook_id),
  foreign key (location_id, webhook_id) references webhooks
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
-- For operators, who read a delivery by its id alone.
create index webhook_deliveries_by_id on webhook_deliveries (id);
create index webhook_deliveries_listed on webhook_deliveries (webhook_id, created_at, id) include (event, state);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, due_at) where state = 'pending';
create index webhook_deliveries_sending on webhook_deliveries (due_at) where state = 'sending';
create index webhook_deliveries_created_at on webhook_deliveries (created_at);
-- Test messages are few, and are also sent to webhooks that are paused: they are found apart from the deliveries that wait
-- there, and are counted by location before more of them are claimed.
create index webhook_deliveries_tests on webhook_deliveries (due_at) where state = 'pending' and event = 'test';
create index webhook_deliveries_tests_sending on webhook_deliveries (webhook_id)
  where state = 'sending' and event = 'test';

create table attempts (
  location_id uuid not null,
  delivery_id uuid not null,
  -- The day of the message, which is also the day of created_at of the delivery.
  created_on date not null,
  generation int not null,
  number int not null,
  started_at timestamptz(3) not null,
  milliseconds int,
  status int,
  error text,
  response text compression lz4,
  next_attempt_at timestamptz(3),
  primary key (location_id, delivery_id, created_on, generation, number)
) partition by range (created_on);
create table attempts_default partition of attempts default;

-- Creates the partitions of these days and of all days in the default partitions, and moves rows there. Returns the
-- names of the new partitions. `security definer` lets the role of a service call it, which owns no tables. It fails
-- rather than letting other statements wait for long.
create function create_day_partitions(first_day date, last_day date) returns text[] language plpgsql
security definer set lock_timeout = '200ms' as $$
declare
  parent text;
  partition text;
  default_partition text;
  day date;
  created text[] := '{}';
begin
  perform pg_advisory_xact_lock(hashtext(current_schema() || ' day partitions'));
  foreach parent in array '{webhook_messages, attempts}'::text[] loop
    default_partition := parent || '_default';
    for day in execute format(
      'select generate_series($1, $2, interval ''1 day'')::date union select created_on from %I', default_partition)
      using first_day, last_day
    loop
      partition := parent || to_char(day, '"_"YYYYMMDD');
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
begin
  -- The functions must not find objects of their caller.
  execute format('alter function create_day_partitions(date, date) set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_day_partition(date) set search_path = %I, pg_temp', current_schema());
end
$$;

-- Requests to send again what has failed. They are worked off in batches. A webhook has one unfinished recovery: another
-- request extends it.
create table delivery_recoveries (
  location_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  since timestamptz(3) not null,
  created_at timestamptz(3) not null,
  total int not null,
  recovered int not null default 0,
  -- The last requeued delivery. The recovery continues after it.
  cursor_created_at timestamptz(3),
  cursor_id uuid,
  finished_at timestamptz(3),
  primary key (location_id, id),
  foreign key (location_id, webhook_id) references webhooks on delete cascade
);
create index delivery_recoveries_of_webhook on delivery_recoveries (webhook_id, created_at);
create index delivery_recoveries_unfinished on delivery_recoveries (created_at) where finished_at is null;
create unique index delivery_recoveries_unfinished_of_webhook on delivery_recoveries (location_id, webhook_id)
  where finished_at is null;

-- The change feed of a location. Each report, catalog and location has one row, which moves to a new position when the
-- thing changes, so that a cursor never expires and the feed does not grow with the number of changes. Removed reports keep
-- their row.

-- The last position of each location's feed. Whoever takes a position locks the row until the transaction ends, so that
-- positions are committed in their sequence.
create table change_positions (
  location_id uuid primary key,
  position bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);

-- An update changes the indexed position, so that free space on the page would not help. Each is read past in the index of
-- positions until it is vacuumed.
create table changes (
  location_id uuid not null,
  -- A report also stands for the orders of its till, which need 16 bytes each in the arrays below.
  type text not null check (type in ('report', 'catalog', 'location')),
  id uuid not null,
  position bigint not null,
  -- expired: removed because of its age. A till that is pushed again after that begins with revision 1.
  action text not null check (action in ('created', 'replaced', 'erased', 'removed', 'expired')),
  -- Of a report, the revision of its till. Otherwise, the number of changes.
  revision int not null,
  changed_at timestamptz(3) not null,
  order_ids uuid[] not null default '{}',
  -- Orders that the till contained in an earlier revision: those that another till of the location contains, and those
  -- that no till contained when the row got its position.
  reassigned_order_ids uuid[] not null default '{}',
  removed_order_ids uuid[] not null default '{}',
  primary key (location_id, type, id),
  unique (location_id, position)
) partition by hash (location_id);
select create_location_partitions('changes', 'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200');

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
