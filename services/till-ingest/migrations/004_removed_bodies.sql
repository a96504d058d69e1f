-- Bodies that are kept no longer: the row says what the revision was, and its object is gone.
alter table till_versions add column body_removed_at timestamptz;
create index till_versions_superseded on till_versions (created_at) where body_removed_at is null;
-- Of the body as it was pushed, when the till's personal data was erased since: pushing it again changes nothing.
alter table tills add column pushed_hash text;
