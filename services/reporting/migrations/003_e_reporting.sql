-- French e-reporting (flux 10.3 and 10.4).

-- The figures of each till, from which e-reports are added up. They are written in the transaction that writes the report.
create table e_till_figures (
  location_id uuid not null,
  till_id uuid not null,
  report_id uuid not null,
  -- The business day of the report.
  day date not null,
  -- The SIRET as the till states it; empty if it has none.
  siret text not null,
  -- The business to which the location belongs; null if the SIRET is missing or wrong.
  siren text,
  -- The time zone in which the day was computed.
  time_zone text not null,
  -- EReportFigures as JSON (e-reporting/till-e-figures.ts). Null if a sum is too large.
  figures text compression lz4,
  -- The orders of the till that are left out, and the sum of their figures, which are subtracted. Null without such orders,
  -- or if the text of one of them is lost.
  excluded_order_ids uuid[] not null default '{}',
  excluded_figures text compression lz4,
  primary key (location_id, till_id)
) partition by hash (location_id);
create index e_till_figures_by_siren on e_till_figures (location_id, siren, day) where siren is not null;
create index e_till_figures_without_siren on e_till_figures (location_id, day) where siren is null;
select create_location_partitions('e_till_figures');

-- The locations whose tills state a SIREN, so that the locations of a business are found without reading their tills.
create table e_business_locations (
  location_id uuid not null,
  siren text not null,
  -- Of the till that was computed last.
  time_zone text not null,
  -- When the first till that stated it was computed.
  stated_at timestamptz not null default now(),
  primary key (location_id, siren)
);
create index e_business_locations_by_siren on e_business_locations (siren, location_id);

-- The days of businesses whose figures have changed since their periods were last compared, so that e_report.changed and
-- e_report.ready can be published. With the location, so that locations of a business do not wait for each other.
create table e_changed_days (
  location_id uuid not null,
  siren text not null,
  day date not null,
  primary key (location_id, siren, day)
);
create index e_changed_days_by_siren on e_changed_days (siren);

-- What businesses have declared to the administration. The settings are those of the request.
create table e_declarants (
  siren text primary key,
  settings json not null,
  -- The date until which its periods were compared with what was published, and when that was last tried.
  compared_until date,
  tried_at timestamptz,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

-- Orders that were invoiced to businesses.
create table e_excluded_orders (
  location_id uuid not null,
  order_id uuid not null,
  excluded_at timestamptz(3) not null default now(),
  primary key (location_id, order_id)
);

-- The files that were taken. They never change.
create table e_transmissions (
  siren text not null,
  kind text not null check (kind in ('transactions', 'payments')),
  -- The first and the last day of the period.
  period date not null,
  until date not null,
  -- The last day to send it, by the VAT regime with which the period was taken first.
  due_on date not null,
  number int not null,
  id text not null,
  type text not null check (type in ('IN', 'RE')),
  taken_at timestamptz(3) not null,
  key_id uuid not null,
  -- The blocks as JSON, with which later figures are compared.
  blocks json compression lz4 not null,
  file text compression lz4 not null,
  bytes int not null,
  sha256 text not null,
  primary key (siren, kind, period, number),
  unique (siren, id)
);

-- The last state of each period that was published.
create table e_published_states (
  siren text not null,
  kind text not null,
  period date not null,
  state text not null,
  -- Incremented by each change, so that each has an event.
  revision int not null default 1,
  primary key (siren, kind, period)
);
