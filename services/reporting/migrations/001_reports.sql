-- What a till's latest revision was turned into. Replies are kept as the text that is sent.

create table tills (
  till_id uuid primary key,
  location_id uuid not null,
  -- Of the event that was applied last: an older one changes nothing.
  revision int not null,
  pushed_at timestamptz not null
);

create table reports (
  id uuid primary key,
  till_id uuid not null unique references tills,
  location_id uuid not null,
  revision int not null,
  report_version int not null,
  -- The day of started_at in the location's time zone; filters and pages go by it.
  day date not null,
  started_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  order_count int not null,
  etag text not null,
  -- What report.finalized says of it, to say it again when it was lost.
  finalized text not null,
  v2 text compression lz4 not null,
  v0 text compression lz4 not null,
  list_item text compression lz4 not null
);
create unique index reports_by_time on reports (location_id, day, started_at, id);

create table orders (
  till_id uuid not null references tills,
  id uuid not null,
  location_id uuid not null,
  report_id uuid not null,
  day date not null,
  opened_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  pushed_at timestamptz not null,
  -- Whether this till is the newest of those that hold the order: only then is the row served.
  is_current boolean not null default true,
  etag text not null,
  v1 text compression lz4 not null,
  v2 text compression lz4 not null,
  primary key (till_id, id)
);
create unique index orders_current on orders (location_id, id) where is_current;
create index orders_by_id on orders (id, location_id);
create index orders_by_time on orders (location_id, day, opened_at, id) where is_current;
create index orders_by_report on orders (report_id, day, opened_at, id) where is_current;

-- How many reports or orders a location has in a stretch of a day, so that totals and the start of any page are found
-- without counting rows. A stretch begins at (start_at, start_id) and ends where the day's next one begins; a day's
-- first begins at -infinity. One that grows too long is split.
create table stretches (
  location_id uuid not null,
  kind text not null check (kind in ('report', 'order')),
  day date not null,
  start_at timestamptz not null,
  start_id uuid not null,
  count int not null check (count >= 0),
  primary key (location_id, kind, day, start_at, start_id)
);
