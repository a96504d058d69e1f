-- Whether a delivery is made again from its first attempt, should the attempt that is under way fail.
alter table deliveries add column again boolean not null default false check (not again or state = 'sending');
