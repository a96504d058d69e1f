-- A packed till is lost when its object is missing or damaged, and the till or another till with one of its orders
-- changes. Its orders are then rows of orders without texts, and it has no rows in packed_orders, until it is computed
-- again from its body.
alter table packed_tills add column lost_at timestamptz;
create index on packed_tills (lost_at) where lost_at is not null;
