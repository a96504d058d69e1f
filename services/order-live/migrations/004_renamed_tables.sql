-- Renames four tables and some of their columns. Instances of the previous version use the views with the former names,
-- and delete rows of two of them by their ctid. A later version drops the views streams, orders, revisions and devices.

alter table streams rename to location_streams;
alter index streams_pkey rename to location_streams_pkey;
create view streams as select location_id, position from location_streams;
select copy_grants('location_streams', 'streams');

alter table orders rename to live_orders;
-- When the order departed, which means that it is no longer live; null while it is live.
alter table live_orders rename column left_at to departed_at;
-- Hash of the order's products and menus.
alter table live_orders rename column rows_hash to items_hash;
alter index orders_pkey rename to live_orders_pkey;
alter index orders_by_id rename to live_orders_by_id;
alter index orders_by_till rename to live_orders_by_till;
alter index orders_listed rename to live_orders_listed;
alter index orders_departed rename to live_orders_departed;
alter index orders_unchanged rename to live_orders_unchanged;
create view orders as
  select
    location_id, id, till_id, revision_hash, modified_at, is_training, is_paid, is_transferred, is_canceled,
    is_manually_closed, items_hash as rows_hash, sequence, position, opened_at, created_at, updated_at, etag, body,
    departed_at as left_at, closed_at, ctid
  from live_orders;
select copy_grants('live_orders', 'orders');

alter table revisions rename to order_revisions;
alter index revisions_pkey rename to order_revisions_pkey;
alter index revisions_created_at rename to order_revisions_created_at;
create view revisions as
  select location_id, position, order_id, before, after, body, created_at, ctid from order_revisions;
select copy_grants('order_revisions', 'revisions');

-- The devices whose device.seen event was published, and when it was last published.
alter table devices rename to published_devices;
alter table published_devices rename column told_at to published_at;
alter index devices_pkey rename to published_devices_pkey;
create view devices as select location_id, id, name, published_at as told_at from published_devices;
select copy_grants('published_devices', 'devices');
