-- The tables and functions that the schema of every service contains. They are created before the service's own tables.

-- Functions for migrations.

-- Grants the roles of a table the same access to a table that is created later: the `migrate` command grants privileges
-- on new tables only after the commit, while services of the previous version may already be using the schema.
create function copy_grants(source regclass, target regclass) returns void language plpgsql as $$
declare
  service_role regrole;
begin
  for service_role in
    select distinct grantee from pg_class, aclexplode(relacl) where oid = source and grantee not in (0, relowner)
  loop
    execute format('grant select, insert, update, delete on %s to %s', target, service_role);
  end loop;
end
$$;

-- Creates the 32 partitions of a table that is partitioned by the hash of the location: `<name>_p00` to `<name>_p31`.
-- They get the storage parameters, because a partitioned table cannot have any.
create function create_location_partitions(name text, parameters text default null) returns void language plpgsql as $$
declare
  partition text;
begin
  for number in 0 .. 31 loop
    partition := name || '_p' || lpad(number::text, 2, '0');
    execute format('create table %I partition of %I for values with (modulus 32, remainder %s) %s',
      partition, name, number, 'with (' || parameters || ')');
    perform copy_grants(name::regclass, partition::regclass);
  end loop;
end
$$;

-- Events that are published.

-- The events to send. They are written in the transaction of the change, and deleted when NATS has acknowledged them,
-- within seconds. How many rows an outage has once left here must not decide when dead rows are removed, because the
-- relay's index scan reads past them.
create table outbox (
  id uuid primary key,
  -- The order of publishing within this schema. Numbers are not committed in their order, so that no reader can continue
  -- after the last number that it has seen.
  position bigint generated always as identity,
  type text not null,
  location_id uuid,
  body text not null,
  created_at timestamptz not null default now()
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 500,
  toast.autovacuum_vacuum_cost_delay = 0
);
-- Each stream is read separately, so that the events of a stream that is full are not read past again and again in search
-- of events of the other stream.
create index outbox_stream_position on outbox
  ((case when type like 'order.%' then 'orders' else 'tills' end), position);

-- The events that a stream has acknowledged, for longer than NATS may keep a write in memory only, or than a backup of it
-- may be old. If the stream no longer has them, the relay publishes them again (messaging/stream-loss-repair.ts).
create table sent_events (
  -- The number of the UTC day on which the event was sent, modulo 16. A partition is emptied before its day comes again.
  slot smallint not null,
  -- The stream: `tills` or `orders`.
  stream text not null,
  -- The sequence in the stream, as acknowledged.
  stream_sequence bigint not null,
  id uuid not null,
  -- The position that the event had in the outbox, which it gets again.
  position bigint not null,
  type text not null,
  location_id uuid,
  body text not null,
  sent_at timestamptz not null,
  -- The relay searches by stream and sequence. An event that was published twice within minutes has one sequence.
  primary key (stream, stream_sequence, id, slot)
) partition by list (slot);

-- Rows are inserted, and removed with their whole partition, so that autovacuum only has to freeze them.
do $$
begin
  for slot in 0 .. 15 loop
    execute format('create table %I partition of sent_events for values in (%s)',
      'sent_events_' || lpad(slot::text, 2, '0'), slot);
  end loop;
end
$$;

-- Empties the partitions whose events were all sent before a time. Returns their number. `security definer` lets the role
-- of a service call it, which may not truncate tables. It fails rather than letting other statements wait for long.
create function remove_sent_events(before timestamptz) returns int language plpgsql
security definer set lock_timeout = '200ms' as $$
declare
  partition text;
  is_removable boolean;
  removed int := 0;
begin
  for slot in 0 .. 15 loop
    partition := 'sent_events_' || lpad(slot::text, 2, '0');
    -- The first row tells the day. Without the test, empty partitions would be locked each time.
    execute format(
      $sql$ select date_trunc('day', sent_at at time zone 'UTC') + interval '1 day' <= $1 at time zone 'UTC'
        from %I limit 1 $sql$, partition) into is_removable using before;
    if is_removable then
      execute format('truncate %I', partition);
      removed := removed + 1;
    end if;
  end loop;
  return removed;
end
$$;
do $$
begin
  -- The function must not find objects of its caller.
  execute format('alter function remove_sent_events(timestamptz) set search_path = %I, pg_temp', current_schema());
end
$$;

-- Events that are handled.

-- The events that a subscription has handled, so that each has its effect once. Contains two weeks of events, of which an
-- hour's share is deleted at a time: with the default of a fifth, dead rows would stay for three days.
create table inbox (
  event_id uuid not null,
  subscription text not null,
  handled_at timestamptz not null default now(),
  primary key (event_id, subscription)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index inbox_handled_at on inbox (handled_at);

-- Events that were delivered again and whose handling has not ended: a process that dies while it handles one leaves its
-- count behind, so that the event is not attempted forever. An update changes the count only, and with free space on the
-- page it changes no index.
create table event_attempts (
  event_id uuid not null,
  subscription text not null,
  attempts int not null default 1,
  -- How many handlers of the event were abandoned because they did not end in time, over all instances and restarts.
  timeouts int not null default 0,
  attempted_at timestamptz not null default now(),
  primary key (event_id, subscription)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- Events that could not be handled.
create table dead_letters (
  event_id uuid not null,
  subscription text not null,
  type text not null,
  -- What the event is about: where only the latest about a thing matters, it replaces earlier ones.
  subject text,
  body text not null,
  reason text not null,
  dead_lettered_at timestamptz not null default now(),
  primary key (event_id, subscription)
);
create index dead_letters_by_subject on dead_letters (subscription, subject);

-- Requests.

-- The requests with an Idempotency-Key of the last day. A key is reserved in a row that is committed before the work
-- begins. The response is added in the transaction of the changes. This update changes an indexed column, so that free
-- space on the page would not help.
create table idempotent_requests (
  -- Whose key it is: the consumer, and the location for which it acts.
  owner text not null,
  key text not null,
  -- SHA-256 of the operation and the body.
  fingerprint text not null,
  -- Which reservation it is: a request whose key was taken over cannot complete it.
  reservation_id uuid not null,
  -- The `application_name` of the process that handles the request. If it has no connections, the key may be taken over.
  process_name text not null,
  reserved_at timestamptz not null,
  -- The following columns are null while the request is in progress.
  completed_at timestamptz,
  status int,
  -- The headers and the body.
  encrypted_response text,
  -- The orders whose personal data the response contains, and their location. Null if it contains none.
  location_id uuid,
  order_ids uuid[],
  primary key (owner, key)
) with (autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_scale_factor = 0.05);
create index idempotent_requests_by_age on idempotent_requests (completed_at);
create index idempotent_requests_by_location on idempotent_requests (location_id) where location_id is not null;

-- How much each location has used of its daily quotas. Every request that counts updates the row of its location and day.
-- Rows of past days must not keep autovacuum from removing the dead ones.
create table daily_usage (
  location_id uuid not null,
  -- In UTC.
  day date not null,
  quota text not null,
  used bigint not null,
  primary key (location_id, quota, day)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index daily_usage_by_day on daily_usage (day);

-- Reads from replicas (database/read-replica.ts).

-- One row for each transaction that changes what a location's reads return. A replica that has the row also has the
-- other changes of its transaction.
create table location_writes (
  location_id uuid not null,
  id bigint generated always as identity,
  written_at timestamptz not null default clock_timestamp(),
  primary key (location_id, id)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index location_writes_by_time on location_writes (written_at);

-- The latest time of the primary server. It shows how much of the past a replica has for certain.
create table replica_heartbeat (
  id boolean primary key default true check (id),
  beat_at timestamptz not null
);

-- Removed data.

-- Locations that `npm run ops -- location remove` removes or has removed. Nothing is stored for them, also not by
-- requests and events that had begun before: the command adds the trigger below to tables that must not get new rows.
create table removed_locations (
  location_id uuid primary key,
  requested_at timestamptz(3) not null default now(),
  -- When nothing was left. Only accounts has this time and the receipt.
  removed_at timestamptz(3),
  -- What was removed, and what remains until when.
  receipt jsonb
);

-- Rejects a row of a removed location. Services recognize the error code.
create function reject_removed_location() returns trigger language plpgsql as $$
begin
  if exists (select from removed_locations where location_id = new.location_id) then
    raise exception using errcode = 'PRLOC', message = 'the location was removed';
  end if;
  return new;
end
$$;

-- Orders whose personal data was erased. What arrives about them later is stored without it.
create table erased_orders (
  location_id uuid not null,
  order_id uuid not null,
  erased_at timestamptz not null default now(),
  -- When the erasure was repeated, which webhooks does because data can be stored while an erasure runs.
  repeated_at timestamptz,
  primary key (location_id, order_id)
);
create index erased_orders_by_time on erased_orders (erased_at);
