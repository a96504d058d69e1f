-- Orders are counted by the index that lists them.
-- contracts: unused since 1.0
drop table tallies;
