-- Renames `object_intents` and its `removing_since`. Instances of the previous version use the view with the former
-- names.
alter table object_intents rename to pending_uploads;
alter table pending_uploads rename column removing_since to removal_claimed_at;
alter index object_intents_pkey rename to pending_uploads_pkey;
alter index object_intents_by_age rename to pending_uploads_by_age;

create view object_intents as select key, created_at, removal_claimed_at as removing_since from pending_uploads;
select copy_grants('pending_uploads', 'object_intents');
