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
select copy_grants('outbox', 'removed_locations');

-- Rejects a row of a removed location. Services recognize the error code.
create function reject_removed_location() returns trigger language plpgsql as $$
begin
  if exists (select from removed_locations where location_id = new.location_id) then
    raise exception using errcode = 'PRLOC', message = 'the location was removed';
  end if;
  return new;
end
$$;
