-- Renames `handling_attempts`, its `tries` and its `tried_at`. Instances of the previous version use the view with the
-- former names, and delete its rows by their ctid.
alter table handling_attempts rename to event_attempts;
alter table event_attempts rename column tries to attempts;
alter table event_attempts rename column tried_at to attempted_at;
alter index handling_attempts_pkey rename to event_attempts_pkey;

create view handling_attempts as
  select event_id, subscription, attempts as tries, attempted_at as tried_at, ctid from event_attempts;
select copy_grants('event_attempts', 'handling_attempts');
