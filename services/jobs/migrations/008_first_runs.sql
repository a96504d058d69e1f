-- Has the repeating jobs go on that a version from before 004 created, whose queues knew when each is due: a run is due
-- at once, and the next one follows when it begins.
with run as (
  insert into jobs
    (location_id, id, key_id, consumer, message, duration, options, timestamp, due_at, priority, position, run_of)
  select location_id, id || ':' || due, key_id, consumer, '', duration, options - 'repeat', due,
    to_timestamp(due / 1000.0), least(coalesce((options ->> 'priority')::int, 0), 2097151), due / 1000.0, id
  from jobs as repeating, (select (extract(epoch from now()) * 1000)::bigint as due) as first
  where finished_at is null and due_at is null and not exists (
    select 1 from jobs where jobs.location_id = repeating.location_id and jobs.run_of = repeating.id)
  returning location_id, run_of, timestamp)
update jobs set last_due = run.timestamp
from run where jobs.location_id = run.location_id and jobs.id = run.run_of;
drop index if exists jobs_not_ready;
