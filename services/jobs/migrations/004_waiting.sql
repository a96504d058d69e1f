-- Jobs wait here, in their order, and only so many of a location are in the queue on Redis at a time: queued_at is when
-- a job was given to it, and null while the job waits.

-- When the job may be done. Null for a repeating job, whose runs are rows of their own, and for a job that a version
-- from before this migration created: a periodic task makes that one ready.
alter table jobs add column due_at timestamptz;
-- 0: none, which goes first; then 1 to 2097151.
alter table jobs add column priority int not null default 0;
-- The order among jobs of the same priority: seconds since 1970 at which the job was due, negative for lifo.
alter table jobs add column position double precision not null default 0;
-- Children that the job waits for.
alter table jobs add column pending_children int not null default 0;
-- The id of the repeating job that this row is a run of; its own id is that one's, a colon, and when it is due.
alter table jobs add column run_of text;

create index jobs_waiting on jobs (location_id, priority, position)
  where finished_at is null and queued_at is null and pending_children = 0;
create index jobs_by_due on jobs (due_at) where finished_at is null and queued_at is null and pending_children = 0;
create index jobs_in_queue on jobs (location_id) where finished_at is null and queued_at is not null;
create index jobs_runs on jobs (location_id, run_of) where run_of is not null;
create index jobs_not_ready on jobs (location_id, id) where finished_at is null and due_at is null;
drop index jobs_to_queue, jobs_to_queue_by_parent;
