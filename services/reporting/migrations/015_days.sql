-- The figures of a till from which its business day is added up, as JSON (days/till-day-facts.ts). Null in reports that
-- an earlier version stored.
do $$
declare
  target text;
begin
  -- An installation whose table is partitioned later also has the empty partitioned table.
  foreach target in array '{reports, reports_partitioned}'::text[] loop
    if to_regclass(target) is null then continue; end if;
    execute format('alter table %I add column day_facts text compression lz4', target);
  end loop;
end
$$;

-- The business days of locations, as they are sent.
create table days (
  location_id uuid not null,
  day date not null,
  state text not null,
  revision int not null,
  updated_at timestamptz(3) not null,
  etag text not null,
  -- Of the entity tags of the day's reports. The row is out of date if it differs, for example because an instance of the
  -- previous version stored a report.
  reports_hash text not null,
  -- The last report number and the end of the day's shifts, by device.
  devices jsonb not null,
  body text compression lz4 not null,
  primary key (location_id, day)
) partition by hash (location_id);

do $$
declare
  partition text;
begin
  perform copy_grants('tills', 'days');
  for number in 0 .. 31 loop
    partition := 'days_p' || lpad(number::text, 2, '0');
    execute format('create table %I partition of days for values with (modulus 32, remainder %s)', partition, number);
    perform copy_grants('tills', partition::regclass);
  end loop;
end
$$;
-- The current day is updated by every till, and most rows are of past days.
select set_storage_parameters('days'::regclass, 'autovacuum_vacuum_scale_factor = 0.01');
