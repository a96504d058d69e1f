-- Renames three tables and some of their columns. Instances of the previous version use the views with the former names.
-- A later version drops the views recipient_secrets, webhook_hours and recoveries.

alter table recipient_secrets rename to signing_secrets;
-- 1, 2, 3: the highest version is the latest.
alter table signing_secrets rename column number to version;
alter table signing_secrets rename column sealed_secret to encrypted_secret;
alter index recipient_secrets_pkey rename to signing_secrets_pkey;
create view recipient_secrets as
  select recipient_id, version as number, encrypted_secret as sealed_secret, created_at, expires_at from signing_secrets;
select copy_grants('signing_secrets', 'recipient_secrets');

alter table webhook_hours rename to webhook_hourly_stats;
alter index webhook_hours_pkey rename to webhook_hourly_stats_pkey;
alter index webhook_hours_by_hour rename to webhook_hourly_stats_by_hour;
create view webhook_hours as
  select webhook_id, hour, succeeded, failed, milliseconds, last_succeeded_at, last_failed_at from webhook_hourly_stats;
select copy_grants('webhook_hourly_stats', 'webhook_hours');

alter table recoveries rename to delivery_recoveries;
-- The last requeued delivery. The recovery continues after it.
alter table delivery_recoveries rename column reached_at to cursor_created_at;
alter table delivery_recoveries rename column reached_id to cursor_id;
alter index recoveries_pkey rename to delivery_recoveries_pkey;
alter index recoveries_of_webhook rename to delivery_recoveries_of_webhook;
alter index recoveries_unfinished rename to delivery_recoveries_unfinished;
alter index recoveries_unfinished_of_webhook rename to delivery_recoveries_unfinished_of_webhook;
create view recoveries as
  select
    id, webhook_id, since, created_at, total, recovered, cursor_created_at as reached_at, cursor_id as reached_id,
    finished_at
  from delivery_recoveries;
select copy_grants('delivery_recoveries', 'recoveries');
