-- The counts of the current day are updated by every till. Such an update changes no indexed column, and with free space
-- on the page it changes no index. Most rows are of past days, and must not keep autovacuum from removing dead rows. An
-- installation whose table is partitioned later also has the empty partitioned table.
select set_storage_parameters(target, $$
  fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000 $$)
from (values (to_regclass('day_counts')), (to_regclass('day_counts_partitioned'))) as stored (target)
where target is not null;
