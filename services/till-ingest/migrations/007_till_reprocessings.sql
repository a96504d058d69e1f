-- Renames `reprocessings`, its `place` and its `done`. Instances of the previous version use the view with the former
-- names, and delete its rows by their ctid.
alter table reprocessings rename to till_reprocessings;
alter table till_reprocessings rename column place to last_till_id;
alter table till_reprocessings rename column done to requeued_count;
alter index reprocessings_pkey rename to till_reprocessings_pkey;
alter index reprocessings_to_do rename to till_reprocessings_unfinished;

create view reprocessings as
  select
    id, location_id, lte_report_version, key_id, consumer, total, requeued_count as done, last_till_id as place,
    created_at, finished_at, ctid
  from till_reprocessings;
select copy_grants('till_reprocessings', 'reprocessings');
