-- The figures of a till from which its business day is computed (days/till-figures.ts), compressed, after the hash of the
-- entity tag of their report (days/day-texts.ts). Null in reports that an earlier version stored.
do $$
declare
  target text;
begin
  -- An installation whose table is partitioned later also has the empty partitioned table.
  foreach target in array '{reports, reports_partitioned}'::text[] loop
    if to_regclass(target) is null then continue; end if;
    execute format('alter table %I add column till_figures bytea', target);
    -- Is compressed already.
    execute format('alter table %I alter column till_figures set storage external', target);
  end loop;
end
$$;

-- The business days of locations, as they are sent, compressed (days/day-texts.ts).
create table days (
  location_id uuid not null,
  day date not null,
  state text not null,
  day_revision int not null,
  updated_at timestamptz(3) not null,
  etag text not null,
  -- False for a day that has only open shifts, or orders without a till.
  has_reports boolean not null,
  -- Of the entity tags of the day's reports; empty without reports. The row is out of date if it differs, for example
  -- because an instance of the previous version stored a report.
  reports_hash text not null,
  -- By device: the last report number, and the latest end of the day's shifts.
  last_shifts jsonb not null,
  body bytea not null,
  primary key (location_id, day)
) partition by hash (location_id);
alter table days alter column body set storage external;
-- Days with reports are listed from their counts.
create index days_without_reports on days (location_id, day) where not has_reports;

-- The shifts that have or had live orders, by the id of the till that is pushed when the shift is closed. An ended shift
-- is kept for a while, so that an event that arrives late cannot open it again.
create table shifts (
  location_id uuid not null,
  till_id uuid not null,
  -- When the first known order was opened: the date in the location's time zone, and the time.
  day date not null,
  started_at timestamptz not null,
  -- The position of the last change in the location's stream of live orders.
  position bigint not null,
  is_open boolean not null,
  changed_at timestamptz not null default now(),
  primary key (location_id, till_id)
) partition by hash (location_id);
create index shifts_open on shifts (location_id, day) where is_open;

-- The orders that were live and that the till of their shift does not contain. Those that were found, or are live again,
-- are kept for a while, because events can arrive in a different sequence, and tills can be replaced.
create table orders_without_till (
  location_id uuid not null,
  order_id uuid not null,
  -- The till of their shift, which may not exist.
  till_id uuid not null,
  -- The business day of the till, or of the shift if the till does not exist.
  day date not null,
  -- The total of the order as it was last sent, in minor units.
  total bigint not null,
  is_canceled boolean not null,
  -- The position of the last change in the location's stream of live orders.
  position bigint not null,
  -- Whether the order is live again, in a later shift.
  is_live boolean not null,
  -- Another till that contains the order; null if there is none.
  found_in_till_id uuid,
  changed_at timestamptz not null default now(),
  primary key (location_id, order_id)
) partition by hash (location_id);
create index orders_without_till_by_day on orders_without_till (location_id, day)
  where found_in_till_id is null and not is_live;

do $$
declare
  target text;
  partition text;
begin
  foreach target in array '{days, shifts, orders_without_till}'::text[] loop
    perform copy_grants('tills', target::regclass);
    for number in 0 .. 31 loop
      partition := target || '_p' || lpad(number::text, 2, '0');
      execute format(
        'create table %I partition of %I for values with (modulus 32, remainder %s)', partition, target, number);
      perform copy_grants('tills', partition::regclass);
    end loop;
  end loop;
end
$$;
-- The current day is updated by every till, and most rows are of past days.
select set_storage_parameters('days'::regclass, 'autovacuum_vacuum_scale_factor = 0.01');
