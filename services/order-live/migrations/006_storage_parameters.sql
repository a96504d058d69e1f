-- Lets most updates of live orders change no index, and vacuums the tables of live orders before they grow. An index on
-- `updated_at` would change with every update. The previous version finds unchanged orders without an index, once an
-- hour. Before the release, create the new index of a large table by hand with `create index concurrently`.
create index if not exists live_orders_by_created_at on live_orders (created_at) where departed_at is null;
drop index if exists live_orders_unchanged;

-- An order is updated about six times, mostly without a change of an indexed column: with free space on its page, such
-- an update changes no index. Bodies that are too large for the page are replaced in the TOAST table.
select set_storage_parameters('live_orders', $$
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_scale_factor = 0.05 $$);

-- Rows are inserted once and deleted a day later, in batches of a few minutes' share.
select set_storage_parameters('order_revisions', $$
  autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02 $$);

-- One narrow row for each location is updated by every change of its orders. The updates change no indexed column, and
-- find the room that earlier ones left.
select set_storage_parameters('location_streams', 'autovacuum_vacuum_scale_factor = 0.05');
