-- Orders to process again every till whose report was made by a calculation up to a version. Worked off in portions in
-- the order of till ids, each with the place that it came to: whoever dies, the next goes on from there.
create table reprocessings (
  id uuid primary key,
  -- Null: of every location.
  location_id uuid,
  lte_report_version int not null,
  key_id uuid not null,
  consumer text not null,
  total int not null,
  done int not null default 0,
  -- The last till that was announced.
  place uuid,
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create index reprocessings_to_do on reprocessings (created_at) where finished_at is null;
create index tills_by_report_version on tills (coalesce(report_version, 0), id) where not is_training;
