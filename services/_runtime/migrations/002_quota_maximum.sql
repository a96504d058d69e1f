-- The maximum that applied to the last use, for operators. Null until the quota is used again after the upgrade.
alter table daily_usage add column maximum bigint;
