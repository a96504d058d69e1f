-- What each location has used of its daily quotas.
create table daily_usage (
  location_id uuid not null,
  -- In UTC.
  day date not null,
  quota text not null,
  used bigint not null,
  primary key (location_id, quota, day)
);
create index daily_usage_by_day on daily_usage (day);
