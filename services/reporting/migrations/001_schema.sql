-- Reports and orders as they are computed from the latest revision of each till, and what is derived from them: business
-- days, metrics and exports. Responses are stored as the text that is sent.
--
-- Tables with a row for each till, report, order or day are partitioned by location. Their keys begin with the location.

-- Tills.

-- The revision of each till that was applied last. An event with a lower revision changes nothing.
create table tills (
  location_id uuid not null,
  till_id uuid not null,
  revision int not null,
  -- Of the body from which the report was computed: one revision with two bodies is an error that must be noticed.
  hash text not null,
  pushed_at timestamptz not null,
  -- When the personal data of all orders of the till was erased; null again once the till has another body.
  erased_at timestamptz,
  primary key (location_id, till_id)
) partition by hash (location_id);
create index tills_to_erase on tills (pushed_at) where erased_at is null;
select create_location_partitions('tills');

-- Reports and orders.

create table reports (
  location_id uuid not null,
  id uuid not null,
  till_id uuid not null,
  -- The day of started_at in the location's time zone, by which reports are filtered and sorted.
  day date not null,
  started_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  etag text not null,
  -- The data of the event report.finalized, which is published again if it was lost.
  finalized text not null,
  -- The following three are null if the till is packed.
  v2 text compression lz4,
  v0 text compression lz4,
  -- What journal entries need of the till and the report does not contain.
  accounting_data text compression lz4,
  -- The size of v0 if the till is packed.
  packed_v0_bytes int,
  list_item text compression lz4 not null,
  -- The figures of the till from which its business day is computed (days/till-figures.ts), compressed. Null if a sum is
  -- too large.
  till_figures bytea,
  -- False if a sum is too large, so that the till has no rows in metric_totals and metric_cells.
  has_metrics boolean not null,
  primary key (location_id, id),
  unique (location_id, till_id),
  foreign key (location_id, till_id) references tills
) partition by hash (location_id);
-- Is compressed already.
alter table reports alter column till_figures set storage external;
create unique index reports_by_time on reports (location_id, day, started_at, id);
-- For operators, who read a report by its id alone.
create index reports_by_id on reports (id);
create index reports_to_pack on reports (day) where v2 is not null;
create index reports_without_metrics on reports (location_id, day) where not has_metrics;
select create_location_partitions('reports');

-- The orders of tills that are not packed. An order that several tills contain has a row for each of them.
create table orders (
  location_id uuid not null,
  till_id uuid not null,
  id uuid not null,
  report_id uuid not null,
  day date not null,
  opened_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  pushed_at timestamptz not null,
  -- Whether this till is the one that was pushed last, of those that contain the order: only this row is returned.
  is_current boolean not null default true,
  etag text not null,
  v1 text compression lz4 not null,
  -- The V2 response, compressed in zlib's format with the V1 response in the preset dictionary, so that what both have in
  -- common is stored once (documents/v2-order-compression.ts).
  v2_deflated bytea not null,
  primary key (location_id, till_id, id),
  foreign key (location_id, till_id) references tills
) partition by hash (location_id);
alter table orders alter column v2_deflated set storage external;
create unique index orders_current on orders (location_id, id) where is_current;
-- Begins with the id for operators, who read an order by its id alone.
create index orders_by_id on orders (id, location_id);
create index orders_by_time on orders (location_id, day, opened_at, id) where is_current;
create index orders_by_report on orders (location_id, report_id, day, opened_at, id) where is_current;
select create_location_partitions('orders');

-- How many reports or orders a location has in a day, so that totals and the day in which any page begins are found without
-- counting rows. The counts of the current day are updated by every till. Most rows are of past days, and must not keep
-- autovacuum from removing the dead ones.
create table day_counts (
  location_id uuid not null,
  kind text not null check (kind in ('report', 'order')),
  day date not null,
  count int not null check (count >= 0),
  primary key (location_id, kind, day)
) partition by hash (location_id);
select create_location_partitions('day_counts', 'autovacuum_vacuum_scale_factor = 0.01');

-- Packed tills. Tills that are older than HOT_DAYS are packed: one object in the object store contains the responses of the
-- till's report and orders (documents/packing/pack-format.ts). PostgreSQL keeps what lists, counts, entity tags and ids
-- need. A packed till has a row in packed_tills, none in orders, and no texts in its row of reports.

create table packed_tills (
  location_id uuid not null,
  till_id uuid not null,
  object_key text not null,
  -- SHA-256 of the object, in hexadecimal.
  hash text not null,
  pushed_at timestamptz not null,
  -- Entity tags of orders are computed from it (documents/entity-tags.ts). Null if they are in packed_orders.
  content_version text,
  -- The offsets in the object at which blocks end. The first block is the report.
  block_ends int[] not null,
  -- The positions of the first order of each block. 0 for the block of the report.
  block_first_positions int[] not null,
  -- From how many bytes of each block the V1 orders can be decompressed.
  block_v1_ends int[] not null,
  -- When the object was found missing or damaged while the till, or another till with one of its orders, changed. The
  -- orders are then rows of orders without texts, and the till has no rows in packed_orders, until it is computed again
  -- from its body.
  lost_at timestamptz,
  primary key (location_id, till_id)
) partition by hash (location_id);
create index packed_tills_by_object on packed_tills (location_id, object_key);
create index packed_tills_lost on packed_tills (lost_at) where lost_at is not null;
select create_location_partitions('packed_tills');

-- The orders of a packed till that were opened on the same day, in the order of their opening and their ids. The arrays
-- have one element for each order.
create table packed_orders (
  location_id uuid not null,
  till_id uuid not null,
  day date not null,
  -- As in orders. An order that several tills contain is current in only one of them.
  is_current boolean not null,
  -- The position of the first of these orders in the object.
  first_position int not null,
  ids uuid[] not null,
  opened_at timestamptz[] not null,
  -- The sizes of the V1 responses in bytes, which limit pages.
  v1_bytes int[] not null,
  -- Null if the till has a content_version.
  etags text[],
  primary key (location_id, till_id, day, is_current),
  foreign key (location_id, till_id) references packed_tills
) partition by hash (location_id);
create index packed_orders_by_day on packed_orders (location_id, day) where is_current;
-- fastupdate is off, because pending entries would be searched one by one.
create index packed_orders_by_order on packed_orders using gin (ids) with (fastupdate = off);
select create_location_partitions('packed_orders');

-- The latest day of an order that was ever packed. Lists of later days do not read the tables above.
create table packed_days (
  location_id uuid primary key,
  latest_day date not null
);

-- Objects to which no till refers: the row is written before the upload, or when the till is unpacked.
create table unused_objects (
  location_id uuid not null,
  object_key text not null,
  delete_after timestamptz not null,
  primary key (location_id, object_key)
);
create index unused_objects_by_time on unused_objects (delete_after);

-- Business days.

-- The business days of locations, as they are sent, compressed (days/day-texts.ts). The current day is updated by every
-- till, and most rows are of past days.
create table days (
  location_id uuid not null,
  day date not null,
  state text not null,
  day_revision int not null,
  updated_at timestamptz(3) not null,
  etag text not null,
  -- False for a day that has only open shifts, or orders without a till.
  has_reports boolean not null,
  -- By device: the last report number, and the latest end of the day's shifts.
  last_shifts jsonb not null,
  body bytea not null,
  primary key (location_id, day)
) partition by hash (location_id);
alter table days alter column body set storage external;
select create_location_partitions('days', 'autovacuum_vacuum_scale_factor = 0.01');

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
select create_location_partitions('shifts');

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
select create_location_partitions('orders_without_till');

-- Metrics: the figures of each till by dimension (metrics/till-metrics.ts), from which GET /v1/metrics/ is answered. They
-- are written in the transaction that writes the report.

-- The sums of a till: amounts in minor units, and numbers.
create table metric_totals (
  location_id uuid not null,
  -- The business day of the report.
  day date not null,
  till_id uuid not null,
  sales bigint not null,
  sales_without_tax bigint not null,
  -- Of orders with at least one guest.
  sales_with_guests bigint not null,
  tax bigint not null,
  orders bigint not null,
  guests bigint not null,
  quantity bigint not null,
  discounts bigint not null,
  discount_count bigint not null,
  cancellations bigint not null,
  canceled_quantity bigint not null,
  losses bigint not null,
  payments bigint not null,
  payment_count bigint not null,
  tips bigint not null,
  refunds bigint not null,
  primary key (location_id, day, till_id)
) partition by hash (location_id);
select create_location_partitions('metric_totals');

-- The same figures by dimension. The arrays whose names begin alike have one element for each combination of values
-- (cell). A cell of the arrays payment_*, discount_* and cancellation_* names the cell of the arrays order_* to which its
-- orders belong, from 1.
create temporary table metric_cell_arrays (
  -- Orders, by the local hour of their opening, room, service type, channel, clerk, and device that closed the till.
  order_hour smallint[] not null,
  order_room_name text[] not null,
  order_room_type text[] not null,
  order_service_type text[] not null,
  order_channel text[] not null,
  order_clerk_id text[] not null,
  order_clerk_name text[] not null,
  order_device_id text[] not null,
  order_device_name text[] not null,
  order_sales bigint[] not null,
  order_sales_without_tax bigint[] not null,
  order_sales_with_guests bigint[] not null,
  order_tax bigint[] not null,
  order_orders bigint[] not null,
  order_guests bigint[] not null,
  order_quantity bigint[] not null,
  order_discounts bigint[] not null,
  order_discount_count bigint[] not null,
  order_cancellations bigint[] not null,
  order_canceled_quantity bigint[] not null,
  order_losses bigint[] not null,
  order_payments bigint[] not null,
  order_payment_count bigint[] not null,
  order_tips bigint[] not null,
  order_refunds bigint[] not null,

  -- Product rows, by product, category, subcategory and VAT rate in hundredths of a percent.
  product_id text[] not null,
  product_name text[] not null,
  product_category text[] not null,
  product_subcategory text[] not null,
  product_tax_rate int[] not null,
  product_sales bigint[] not null,
  product_sales_without_tax bigint[] not null,
  product_tax bigint[] not null,
  product_quantity bigint[] not null,
  product_discounts bigint[] not null,
  product_cancellations bigint[] not null,
  product_canceled_quantity bigint[] not null,
  product_losses bigint[] not null,
  product_refunds bigint[] not null,

  -- Payment rows, by payment method.
  payment_order_cell int[] not null,
  payment_name text[] not null,
  payment_mode text[] not null,
  payment_payments bigint[] not null,
  payment_payment_count bigint[] not null,
  payment_tips bigint[] not null,

  -- Discount rows, by discount.
  discount_order_cell int[] not null,
  discount_id text[] not null,
  discount_name text[] not null,
  discount_gifted boolean[] not null,
  discount_discounts bigint[] not null,
  discount_discount_count bigint[] not null,

  -- Canceled product rows, by reason and by whether they were canceled after the bill was first printed.
  cancellation_order_cell int[] not null,
  cancellation_reason text[] not null,
  cancellation_after_finalization boolean[] not null,
  cancellation_cancellations bigint[] not null,
  cancellation_canceled_quantity bigint[] not null
) on commit drop;

create table metric_cells (
  location_id uuid not null,
  day date not null,
  till_id uuid not null,
  like metric_cell_arrays,
  primary key (location_id, day, till_id)
) partition by hash (location_id);
-- A page holds the whole row of most tills. Columns in rows of their own would need a sixth more space.
select create_location_partitions('metric_cells', 'toast_tuple_target = 8160');

-- The cells of all tills of a past month together, so that a question about a year reads 12 rows. A periodic task writes
-- them. Each change of a report of the month deletes them, and questions then read the tills.
create table metric_months (
  location_id uuid not null,
  -- The first day of the month.
  month date not null,
  like metric_cell_arrays,
  primary key (location_id, month)
) partition by hash (location_id);
select create_location_partitions('metric_months', 'toast_tuple_target = 8160');

-- Accounting and exports. Their rows are few, so that their tables are not partitioned.

-- How reports become journal entries. The body is the response that is sent.
create table accounting_configs (
  location_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  body text compression lz4 not null,
  etag text not null,
  primary key (location_id, id)
);
create index accounting_configs_by_time on accounting_configs (location_id, created_at, id);
-- For operators, who read a config by its id alone.
create index accounting_configs_by_id on accounting_configs (id);

-- Bulk exports and accounting exports, which are deleted some days after their end.
create table exports (
  id uuid primary key,
  kind text not null check (kind in ('bulk', 'accounting')),
  -- Null for an accounting export with tills of several locations.
  location_id uuid,
  key_id uuid not null,
  consumer text not null,
  -- What to export, as the kind defines it.
  request json not null,
  -- Of the request, which the export continues.
  traceparent text,
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed', 'removed')),
  created_at timestamptz(3) not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  expires_at timestamptz,
  -- The claim of the process that runs the export. Each claim and each restart increments the number, so that a process
  -- whose claim was lost can store nothing.
  claim_number int not null default 0,
  claimed_until timestamptz,
  failed_attempts int not null default 0,
  -- How far the export is, as the kind defines it. Empty before it first runs.
  progress json not null default '{}',
  failure json
);
create index on exports (location_id, created_at, id);
create index on exports (created_at) where state in ('queued', 'running');
create index on exports (expires_at);

-- The files of exports, whose content is in the object store. An export that contains tills of several locations has
-- files of these locations.
create table export_files (
  export_id uuid not null references exports,
  number int not null,
  location_id uuid not null,
  -- What the kind stores of a file: the rows and sums of a bulk export, or the tills of an accounting export.
  details json compression lz4 not null,
  -- Null, as the columns below, until the file is written. The files of accounting exports are known before.
  name text,
  object_key text,
  bytes bigint,
  -- Of the object, in hexadecimal.
  sha256 text,
  -- The tills whose personal data the file contains. Null for accounting exports, whose files contain none.
  till_ids uuid[],
  primary key (export_id, number)
);
create index on export_files (location_id);
