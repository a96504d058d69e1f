-- A webhook has one unfinished recovery: another request widens it. Of several, the latest takes over what the others had.
update recoveries r set since = (select min(since) from recoveries where webhook_id = r.webhook_id and finished_at is null)
where finished_at is null;
update recoveries r set finished_at = now()
where finished_at is null and exists (
  select from recoveries later
  where later.webhook_id = r.webhook_id and later.finished_at is null
    and (later.created_at, later.id) > (r.created_at, r.id)
);
create unique index recoveries_unfinished_of_webhook on recoveries (webhook_id) where finished_at is null;
-- Test messages under way are counted by location before more of it are claimed.
create index deliveries_tests_sending on deliveries (webhook_id) where state = 'sending' and event = 'test';
