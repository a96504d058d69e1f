-- The orders of each location that are live, and the log of their changes that streams are fed from.
-- Replies are kept as the text that is sent.

-- Where each location's stream is. The row is also the lock under which the location's orders change: whoever holds
-- it gives the next positions, so that positions are committed in their order, without gaps.
create table streams (
  location_id uuid primary key,
  position bigint not null
);

-- Orders, live or departed. A departed one is kept for a while, without its body, so that nothing late revives it.
create table orders (
  location_id uuid not null,
  id uuid not null,
  -- Of a departed order: the till under which it left.
  till_id uuid not null,
  revision_hash text,
  -- The latest that the point of sale gave: text in UTC with every digit, which sorts as time does.
  modified_at text,
  is_training boolean not null,
  is_paid boolean not null,
  is_transferred boolean not null,
  is_canceled boolean not null,
  is_manually_closed boolean not null,
  -- Of the products and menus, to tell whether they changed.
  rows_hash text,
  -- Of the order's last event; 0 before the first.
  sequence int not null,
  -- Of the order's last entry in the stream.
  position bigint not null,
  opened_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  etag text,
  body text compression lz4,
  left_at timestamptz,
  -- When the till was closed that holds the order; null when the order left without being in a till.
  closed_at text,
  primary key (location_id, id),
  check ((body is null) = (left_at is not null))
);
create index orders_by_id on orders (id) where left_at is null;
create index orders_by_till on orders (location_id, till_id) where left_at is null;
-- What a list shows, in its order, with what its filters go by.
create index orders_listed on orders (location_id, opened_at, id)
  include (till_id, is_paid, is_transferred, is_canceled) where left_at is null and not is_training;
create index orders_departed on orders (left_at) where left_at is not null;
create index orders_unchanged on orders (updated_at) where left_at is null;

-- How many orders a list would show, by everything that it can be filtered by.
create table tallies (
  location_id uuid not null,
  till_id uuid not null,
  is_paid boolean not null,
  is_transferred boolean not null,
  is_canceled boolean not null,
  count int not null check (count >= 0),
  primary key (location_id, till_id, is_paid, is_transferred, is_canceled)
);

-- Each change of what a list would show: what a stream sends, by its position.
create table revisions (
  location_id uuid not null,
  position bigint not null,
  order_id uuid not null,
  -- What filters go by, {tillId, isPaid, isTransferred, isCanceled}, before and after; null when it was or is not listed.
  before jsonb,
  after jsonb,
  -- The order, or why it left.
  body text compression lz4 not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (location_id, position)
);
create index revisions_created_at on revisions (created_at);

-- Tills whose report is final: nothing that names one of them is live any more.
create table final_tills (
  location_id uuid not null,
  till_id uuid not null,
  primary key (location_id, till_id)
);

-- The devices that accounts was told of, and when last.
create table devices (
  location_id uuid not null,
  id text not null,
  name text,
  told_at timestamptz not null,
  primary key (location_id, id)
);
