-- The metrics of each till: its figures by dimension (metrics/till-metrics.ts), from which GET /v1/metrics/ is answered. They are
-- written in the transaction that writes the report, and metrics_etag is then the entity tag of the report. If it
-- differs, for example because an instance of the previous version stored the report, a periodic task computes the metrics.
do $$
declare
  target text;
begin
  -- An installation whose table is partitioned later also has the empty partitioned table.
  foreach target in array '{reports, reports_partitioned}'::text[] loop
    if to_regclass(target) is null then continue; end if;
    execute format('alter table %I add column metrics_etag text', target);
  end loop;
end
$$;

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

-- The same figures by dimension. The arrays whose names begin alike have one element for each combination of values
-- (cell). A cell of the arrays payment_*, discount_* and cancellation_* names the cell of the arrays order_* to which its
-- orders belong, from 1.
create table metric_cells (
  location_id uuid not null,
  day date not null,
  till_id uuid not null,

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
  cancellation_canceled_quantity bigint[] not null,
  primary key (location_id, day, till_id)
) partition by hash (location_id);

-- The cells of all tills of a past month together, so that a question about a year reads 12 rows. A periodic task writes
-- them. Each change of a report of the month deletes them, and questions then read the tills.
create table metric_months (
  location_id uuid not null,
  -- The first day of the month.
  month date not null,

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
  payment_order_cell int[] not null,
  payment_name text[] not null,
  payment_mode text[] not null,
  payment_payments bigint[] not null,
  payment_payment_count bigint[] not null,
  payment_tips bigint[] not null,
  discount_order_cell int[] not null,
  discount_id text[] not null,
  discount_name text[] not null,
  discount_gifted boolean[] not null,
  discount_discounts bigint[] not null,
  discount_discount_count bigint[] not null,
  cancellation_order_cell int[] not null,
  cancellation_reason text[] not null,
  cancellation_after_finalization boolean[] not null,
  cancellation_cancellations bigint[] not null,
  cancellation_canceled_quantity bigint[] not null,
  primary key (location_id, month)
) partition by hash (location_id);

do $$
declare
  target text;
  partition text;
begin
  foreach target in array '{metric_totals, metric_cells, metric_months}'::text[] loop
    perform copy_grants('tills', target::regclass);
    for number in 0 .. 31 loop
      partition := target || '_p' || lpad(number::text, 2, '0');
      execute format(
        'create table %I partition of %I for values with (modulus 32, remainder %s)', partition, target, number);
      perform copy_grants('tills', partition::regclass);
    end loop;
  end loop;
end
$$;
-- A page holds the whole row of most tills. Columns in rows of their own would need a sixth more space.
select set_storage_parameters(target::regclass, 'toast_tuple_target = 8160')
from unnest('{metric_cells, metric_months}'::text[]) as target;

-- Deletes the metrics of a report that a process which does not know them, of version 1.1, deletes or replaces.
create function delete_metrics_of_report() returns trigger language plpgsql set search_path from current as $$
begin
  delete from metric_totals
  where location_id = old.location_id and day = old.day and till_id = old.till_id;
  delete from metric_cells
  where location_id = old.location_id and day = old.day and till_id = old.till_id;
  delete from metric_months
  where location_id = old.location_id and month = date_trunc('month', old.day)::date;
  return null;
end
$$;
do $$
declare
  target text;
begin
  foreach target in array '{reports, reports_partitioned}'::text[] loop
    if to_regclass(target) is null then continue; end if;
    execute format('
      create trigger delete_metrics_of_deleted_report after delete on %I for each row
      execute function delete_metrics_of_report()', target);
    execute format('
      create trigger delete_metrics_of_replaced_report after update of etag on %I for each row
      when (new.metrics_etag is distinct from new.etag)
      execute function delete_metrics_of_report()', target);
  end loop;
end
$$;
