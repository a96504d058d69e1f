-- Vacuums deliveries and their attempts before the indexes of due deliveries grow.

-- Each delivery is updated at least twice, when it is claimed and when it ends. Both updates change the index of due
-- deliveries, so that free space on the page would not help, and claims read past its dead entries. Because of the long
-- retention, the default fifth would be the deliveries of a week.
select set_storage_parameters('deliveries', $$
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02 $$);

-- Rows are inserted once and deleted after the retention period, an hour's share at a time.
select set_storage_parameters('attempts', $$
  autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02 $$);
