-- The live orders of each location, and the log of their changes, which streams send. Responses are stored as the text that
-- is sent.

-- The last position in each location's stream. Whoever changes the location's orders locks its row, so that positions are
-- committed in their sequence, without gaps. One narrow row is updated by every change, and changes no index.
create table location_streams (
  location_id uuid primary key,
  position bigint not null
) with (autovacuum_vacuum_scale_factor = 0.05);

-- Live orders, and orders that have departed. A departed order is kept for a while, without its body, so that an event that
-- arrives late cannot make it live again.
--
-- An order is updated about six times, mostly without a change of an indexed column: with free space on its page, such an
-- update changes no index. Bodies that are too large for the page are replaced in the TOAST table.
create table live_orders (
  location_id uuid not null,
  id uuid not null,
  -- Of a departed order: the till under which it departed.
  till_id uuid not null,
  revision_hash text,
  -- The latest time that the point of sale sent: text in UTC with every digit, which sorts as times do.
  modified_at text,
  is_training boolean not null,
  is_paid boolean not null,
  is_transferred boolean not null,
  is_canceled boolean not null,
  is_manually_closed boolean not null,
  -- Hash of the order's products and menus, which shows whether they have changed.
  items_hash text,
  -- Of the order's last event; 0 before the first.
  sequence int not null,
  -- Of the order's last change in the stream.
  position bigint not null,
  opened_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  etag text,
  body text compression lz4,
  -- When the order departed, which means that it is no longer live; null while it is live.
  departed_at timestamptz,
  -- When the till that contains the order was closed; null if the order departed without being in a till.
  closed_at text,
  primary key (location_id, id),
  check ((body is null) = (departed_at is not null))
) with (
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_scale_factor = 0.05
);
create index live_orders_by_id on live_orders (id) where departed_at is null;
create index live_orders_by_till on live_orders (location_id, till_id) where departed_at is null;
-- The orders in the sequence of a list, with the columns of its filters. Orders are counted by it, too.
create index live_orders_listed on live_orders (location_id, opened_at, id)
  include (till_id, is_paid, is_transferred, is_canceled) where departed_at is null and not is_training;
create index live_orders_departed on live_orders (departed_at) where departed_at is not null;
-- Finds orders that have not changed for long. An index of updated_at would change with every update.
create index live_orders_by_created_at on live_orders (created_at) where departed_at is null;

-- Each change of a list of live orders, by its position in the stream. Rows are inserted once and deleted a day later, in
-- batches of a few minutes' share.
create table order_revisions (
  location_id uuid not null,
  position bigint not null,
  order_id uuid not null,
  -- The values of filters, {tillId, isPaid, isTransferred, isCanceled}, before and after; null if the order was or is not
  -- listed.
  before jsonb,
  after jsonb,
  -- The order, or why it departed.
  body text compression lz4 not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (location_id, position)
) with (autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02);
create index order_revisions_created_at on order_revisions (created_at);

-- Tills whose report is final: their orders are no longer live. Removed together with the orders that departed.
create table final_tills (
  location_id uuid not null,
  till_id uuid not null,
  finished_at timestamptz not null default now(),
  -- When the point of sale closed the till.
  closed_at text,
  -- The orders of the till's report that were not stored when the report became final; null if all were stored. They are
  -- remembered here instead of in a departed row each. Random ids cannot be compressed.
  never_live_order_ids uuid[],
  primary key (location_id, till_id)
);
alter table final_tills alter column never_live_order_ids set storage external;
create index final_tills_finished_at on final_tills (finished_at);

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

-- The devices whose device.seen event was published, and when it was last published.
create table published_devices (
  location_id uuid not null,
  id text not null,
  name text,
  published_at timestamptz not null,
  primary key (location_id, id)
);
