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
