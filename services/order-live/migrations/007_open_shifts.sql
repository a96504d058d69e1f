-- The shifts with live orders, by the id of the till that will be pushed when the shift is closed. `shift.changed` is
-- published when a row is inserted, gets an earlier start, or is deleted.
create table open_shifts (
  location_id uuid not null,
  till_id uuid not null,
  -- When the first known order of the shift was opened, and its day in the location's time zone.
  started_at timestamptz not null,
  day date not null,
  primary key (location_id, till_id)
);
