-- Whose the lease is that held_until ends: what acquired it before has lost the job, and changes nothing of it.
alter table jobs add column lease_id uuid;
