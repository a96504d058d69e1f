-- contracts: unused since 1.0
-- Pages are found by the counts of days, and an index within the day.
drop table stretches;
