-- Finds the bodies that are not compressed. For a large table, run the statement by hand before the release, as
-- `create index concurrently`.
create index if not exists till_versions_uncompressed on till_versions (created_at)
  where body_removed_at is null and object_key not like '%.br';
