-- The counts of the current day are updated by every till. Most rows are of past days, and must not keep autovacuum from
-- removing the dead ones. An installation whose table is partitioned later also has the empty partitioned table.
select set_storage_parameters(target, 'autovacuum_vacuum_scale_factor = 0.01')
from (values (to_regclass('day_counts')), (to_regclass('day_counts_partitioned'))) as stored (target)
where target is not null;
