-- Locations with their options and settings, consumers and their API keys, the audit log, and the use of the API.
-- Times by which lists are ordered have milliseconds, as clients and page tokens do.

-- Locations.

create table locations (
  id uuid primary key,
  application text not null check (application in ('POPINA', 'JALIA')),
  legacy_id bigint check (legacy_id >= 1),
  organization_id text not null,
  agency_id text not null,
  options jsonb not null,
  settings_id uuid not null,
  settings jsonb not null,
  time_zone text not null generated always as (settings ->> 'timezone') stored,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index locations_legacy_id on locations (application, legacy_id) where legacy_id is not null;
create index locations_created_at on locations (created_at, id);

-- The devices seen in a location's tills and live orders.
create table devices (
  location_id uuid not null references locations,
  id text not null,
  name text,
  model text,
  first_seen_at timestamptz(3) not null default now(),
  -- Events about a device can arrive in another order than they happened in.
  last_seen_at timestamptz(3) not null default now(),
  primary key (location_id, id)
);

-- Consumers and API keys.

create table consumers (
  id uuid primary key,
  -- Unique in the installation. The name of a consumer that a location's key created begins with the location's id.
  name text not null unique,
  -- The name that a location's key gave the consumer, which is unique at that location. Null: `name` is the name.
  display_name text,
  -- The location whose key created the consumer. Null if a key without a location did.
  location_id uuid,
  scopes text[] not null,
  -- {perSecond, burst}; null for the limit that every key has by default.
  rate_limit jsonb,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index consumers_display_name on consumers (location_id, coalesce(display_name, name))
  where location_id is not null;
create index consumers_created_at on consumers (created_at, id);

create table api_keys (
  id uuid primary key,
  -- SHA-256 of the key, in hexadecimal. The key itself is stored nowhere.
  hash text not null unique check (hash ~ '^[0-9a-f]{64}$'),
  prefix text not null,
  consumer_id uuid not null references consumers,
  -- Null for the operator's own keys.
  location_id uuid references locations,
  -- Whether it was requested, created at the first start, or set in the environment.
  created_from text not null check (created_from in ('request', 'first start', 'environment')),
  -- The ids of the keys that created and revoked the key. Null if no other key did.
  created_by uuid,
  revoked_by uuid,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  -- A key works until the earlier of the expiry that was requested, and the end of the overlap after a rotation.
  expires_at timestamptz(3),
  overlap_ends_at timestamptz(3),
  revoked_at timestamptz(3)
);
create index api_keys_created_at on api_keys (created_at, id);
create index api_keys_location on api_keys (location_id, created_at, id);
create index api_keys_consumer on api_keys (consumer_id);

-- The audit log: who changed what. No role can change an entry, or delete an entry of the last year.

create table audit_events (
  -- The id of the event if the change was made in another service.
  id uuid primary key,
  -- When the change was made.
  created_at timestamptz(3) not null,
  -- When the entry was stored, which decides how long it is kept. Other services could send any time of a change.
  recorded_at timestamptz(3) not null default now(),
  -- The location that the change affects, without a reference, because entries outlive locations.
  location_id uuid,
  action text not null,
  actor_type text not null,
  actor_key_id uuid,
  actor_consumer text,
  -- The location of the actor's key; null for an operator.
  actor_location_id uuid,
  client_address text,
  user_agent text,
  target_type text not null,
  target_id text,
  details jsonb not null default '{}',
  request_id text
);
create index audit_events_created_at on audit_events (created_at, id);
create index audit_events_location on audit_events (location_id, created_at, id);
create index audit_events_recorded_at on audit_events (recorded_at);

-- A trigger, because privileges do not restrict the owner of the table, which is the role of the service in small
-- installations.
create function reject_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.recorded_at < now() - interval '1 year' then return old; end if;
  raise exception 'The audit log is append-only.' using errcode = 'insufficient_privilege';
end
$$;
create trigger reject_audit_change before update or delete on audit_events
  for each row execute function reject_audit_change();
create trigger reject_audit_truncation before truncate on audit_events
  for each statement execute function reject_audit_change();

-- Deletes up to `max_rows` entries that were stored more than `retention_days` ago, and returns their number. It runs as
-- the owner of the table, because the role of the service may not delete entries.
do $$
begin
  execute format(
    'create function delete_expired_audit_events(retention_days int, max_rows int) returns int
     language sql security definer set search_path = %I, pg_temp as $body$
       with deleted as (
         delete from audit_events where id in (
           select id from audit_events
           where recorded_at < now() - make_interval(days => greatest(retention_days, 366))
           order by recorded_at limit max_rows
         ) returning 1
       ) select count(*)::int from deleted
     $body$',
    current_schema()
  );
end
$$;

-- The use of the API, as the gateways count it. `location_id` is the location of the key. Keys without a location have the
-- id 00000000-0000-0000-0000-000000000000, because the keys of these tables begin with it.

-- Requests by API key, route and status class. A row of the current minute is updated a few times.
create table request_counts_by_minute (
  location_id uuid not null,
  period_start timestamptz(0) not null,
  key_id uuid not null,
  route text not null,
  -- The first digit of the statuses.
  status_class smallint not null,
  request_count bigint not null,
  primary key (location_id, period_start, key_id, route, status_class)
) with (autovacuum_vacuum_scale_factor = 0.05);
-- For the task that removes old rows, and for operators, who read all locations.
create index request_counts_by_minute_age on request_counts_by_minute (period_start);

-- The same requests by day (UTC), which are stored for longer.
create table request_counts_by_day (
  location_id uuid not null,
  period_start timestamptz(0) not null,
  key_id uuid not null,
  route text not null,
  status_class smallint not null,
  request_count bigint not null,
  primary key (location_id, period_start, key_id, route, status_class)
);
create index request_counts_by_day_age on request_counts_by_day (period_start);

-- The last failed requests of each API key. New rows replace the oldest ones of their key.
create table failed_requests (
  location_id uuid not null,
  id uuid not null,
  key_id uuid not null,
  failed_at timestamptz(3) not null,
  route text not null,
  method text not null,
  status smallint not null,
  code text,
  request_id text not null,
  -- How many requests the row stands for: itself, and others that failed in the same way within seconds.
  count bigint not null,
  primary key (location_id, id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index failed_requests_of_location on failed_requests (location_id, failed_at, id);
create index failed_requests_of_key on failed_requests (location_id, key_id, failed_at, id);
create index failed_requests_age on failed_requests (failed_at, id);
