-- The cells of products by hour and service type, for questions such as "at which hour is a dessert sold" and "how much VAT
-- is due on takeout". Null for tills whose reports were last computed before these columns existed.
create temporary table service_cell_arrays (
  -- The number of the cell of the product, from 1.
  service_product_cell int[],
  service_hour smallint[],
  service_service_type text[],
  service_sales bigint[],
  service_sales_without_tax bigint[],
  service_tax bigint[],
  service_quantity bigint[],
  service_discounts bigint[],
  service_cancellations bigint[],
  service_canceled_quantity bigint[],
  service_losses bigint[],
  service_refunds bigint[]
) on commit drop;

do $$
declare
  added text;
begin
  select string_agg(format('add column %I %s', attname, format_type(atttypid, atttypmod)), ', ' order by attnum) into added
  from pg_attribute where attrelid = 'pg_temp.service_cell_arrays'::regclass and attnum > 0;
  execute 'alter table metric_cells ' || added;
  execute 'alter table metric_months ' || added;
end
$$;
