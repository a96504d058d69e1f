-- Renames jobs and six of its columns. Instances of the previous version use the view with the former names, and delete
-- its rows by their ctid. A later version drops the view jobs.
alter table jobs rename to location_jobs;
-- When the lease of the process that runs the job expires.
alter table location_jobs rename column held_until to lease_expires_at;
-- Whether the job's own work is done, so that it waits only for its children.
alter table location_jobs rename column is_performed to is_work_done;
-- When the latest run of a repeating job is due, in milliseconds since 1970.
alter table location_jobs rename column last_due to last_due_ms;
-- Number of children, including finished children.
alter table location_jobs rename column children to total_children;
-- The order among jobs of the same priority: when the job is due, in seconds since 1970; negative for lifo.
alter table location_jobs rename column position to sort_position;
-- The id of the repeating job of which this job is a run.
alter table location_jobs rename column run_of to repeating_job_id;
alter index jobs_pkey rename to location_jobs_pkey;
alter index jobs_unfinished_by_key rename to location_jobs_unfinished_by_key;
alter index jobs_unfinished rename to location_jobs_unfinished;
alter index jobs_finished rename to location_jobs_finished;
alter index jobs_by_end rename to location_jobs_by_end;
alter index jobs_by_deduplication rename to location_jobs_by_deduplication;
alter index jobs_in_queue rename to location_jobs_in_queue;
alter index jobs_runs rename to location_jobs_runs;
alter index jobs_due rename to location_jobs_due;
alter index jobs_by_due_at rename to location_jobs_by_due_at;

create view jobs as
  select
    location_id, id, key_id, consumer, message, duration, options, timestamp, created_at, deduplication_id,
    deduplicated_until, queued_at, lease_expires_at as held_until, attempts_made, is_work_done as is_performed,
    progress, runs, last_due_ms as last_due, result, failure, outcome, finished_at, traceparent,
    total_children as children, due_at, priority, sort_position as position, pending_children,
    repeating_job_id as run_of, lease_id, ctid
  from location_jobs;
select copy_grants('location_jobs', 'jobs');
