-- Requests by API key, route and status class, as the gateways count them. `location_id` is the location of the key. Keys
-- without a location have the id 00000000-0000-0000-0000-000000000000, because the keys of tables begin with it.
create table request_counts_by_minute (
  location_id uuid not null,
  minute timestamptz(0) not null,
  key_id uuid not null,
  route text not null,
  -- The first digit of the statuses.
  status_class smallint not null,
  request_count bigint not null,
  primary key (location_id, minute, key_id, route, status_class)
);
-- For the task that moves old rows to the table below, and for operators, who read all locations.
create index request_counts_by_minute_age on request_counts_by_minute (minute);

-- The sums of the rows that were removed from request_counts_by_minute. A request is counted in only one of the tables.
create table request_counts_by_day (
  location_id uuid not null,
  -- In UTC.
  day date not null,
  key_id uuid not null,
  route text not null,
  status_class smallint not null,
  request_count bigint not null,
  primary key (location_id, day, key_id, route, status_class)
);
create index request_counts_by_day_age on request_counts_by_day (day);

-- The last failed requests of each API key.
create table failed_requests (
  location_id uuid not null,
  id uuid not null,
  key_id uuid not null,
  -- Lists are ordered by this time, which has milliseconds, as page tokens do.
  failed_at timestamptz(3) not null,
  route text not null,
  method text not null,
  status smallint not null,
  code text,
  request_id text not null,
  -- How many requests the row stands for: itself, and others that failed in the same way within seconds.
  count bigint not null,
  primary key (location_id, id)
);
create index failed_requests_of_location on failed_requests (location_id, failed_at, id);
create index failed_requests_of_key on failed_requests (location_id, key_id, failed_at, id);
create index failed_requests_age on failed_requests (failed_at, id);

-- A row of the current minute is updated a few times and then stays until its day is summed up.
select set_storage_parameters('request_counts_by_minute', 'autovacuum_vacuum_scale_factor = 0.05');
-- New rows replace the oldest ones of their key.
select set_storage_parameters('failed_requests', 'autovacuum_vacuum_scale_factor = 0.05');
