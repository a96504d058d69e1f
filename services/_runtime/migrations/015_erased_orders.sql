-- Orders whose personal data was erased. What arrives about them later is stored without it.
create table erased_orders (
  location_id uuid not null,
  order_id uuid not null,
  erased_at timestamptz not null default now(),
  -- When the erasure was repeated, which webhooks does because data can be stored while an erasure runs.
  repeated_at timestamptz,
  primary key (location_id, order_id)
);
create index erased_orders_by_time on erased_orders (erased_at);
select copy_grants('outbox', 'erased_orders');

-- The orders whose personal data a stored response contains, and their location. Null if it contains none.
alter table idempotent_requests add column location_id uuid, add column order_ids uuid[];
create index idempotent_requests_by_location on idempotent_requests (location_id) where location_id is not null;
