-- Every upload inserts a row and deletes it within seconds. How many rows an outage has once left here must not decide
-- when dead rows are removed.
select set_storage_parameters('pending_uploads', $$
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500 $$);
