-- If reports is large, first run: create unique index concurrently reports_by_location on reports (location_id, id);
-- The tables with a row for each till, report, order or day are partitioned by location. Keys begin with the location.
create table tills_partitioned (
  like tills including defaults including storage including compression,
  primary key (location_id, till_id)
) partition by hash (location_id);
create index on tills_partitioned (pushed_at) where erased_at is null;
select create_location_partitions('tills');

create table reports_partitioned (
  like reports including defaults including storage including compression,
  primary key (location_id, id),
  unique (location_id, till_id),
  foreign key (location_id, till_id) references tills_partitioned
) partition by hash (location_id);
create unique index on reports_partitioned (location_id, day, started_at, id);
-- For operators, who read a report by its id alone.
create index on reports_partitioned (id);
select create_location_partitions('reports');

create table orders_partitioned (
  like orders including defaults including storage including compression,
  primary key (location_id, till_id, id),
  foreign key (location_id, till_id) references tills_partitioned
) partition by hash (location_id);
create unique index on orders_partitioned (location_id, id) where is_current;
-- Begins with the id for operators, who read an order by its id alone.
create index on orders_partitioned (id, location_id);
create index on orders_partitioned (location_id, day, opened_at, id) where is_current;
create index on orders_partitioned (location_id, report_id, day, opened_at, id) where is_current;
select create_location_partitions('orders');

create table day_counts_partitioned (
  like day_counts including defaults including constraints including storage,
  primary key (location_id, kind, day)
) partition by hash (location_id);
select create_location_partitions('day_counts');

-- Statements of this version find a conflict by the location and the id, also while the table is not partitioned.
create unique index if not exists reports_by_location on reports (location_id, id);

select replace_empty_tables('{tills, reports, orders, day_counts}');

-- Accounting configs are few, so their key is replaced in place. Version 1.0 finds a config by its id alone.
create index accounting_configs_by_id on accounting_configs (id);
alter table accounting_configs drop constraint accounting_configs_pkey, add primary key (location_id, id);
