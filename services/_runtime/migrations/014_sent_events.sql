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
select copy_grants('outbox', 'sent_events');

-- Rows are inserted, and removed with their whole partition, so that autovacuum only has to freeze them.
do $$
declare
  partition text;
begin
  for slot in 0 .. 15 loop
    partition := 'sent_events_' || lpad(slot::text, 2, '0');
    execute format('create table %I partition of sent_events for values in (%s)', partition, slot);
    perform copy_grants('outbox', partition::regclass);
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
