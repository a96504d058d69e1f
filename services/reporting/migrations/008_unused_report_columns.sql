-- Nothing reads these columns, and this version does not write them. A later one drops them.
alter table reports
  alter column revision drop not null,
  alter column report_version drop not null,
  alter column order_count drop not null;
