-- Each job is updated when it is queued, leased, renewed, reports progress and finishes. Renewals and progress change no
-- indexed column, and with free space on the page such an update changes no index. The other updates leave dead entries
-- in the indexes of unfinished jobs, which finished jobs must not keep autovacuum from removing.
select set_storage_parameters('location_jobs', $$
  fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02 $$);
