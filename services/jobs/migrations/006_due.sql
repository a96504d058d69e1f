-- A job that was given to the queue on Redis and is lost there is due as one that was not: queued_at says how long ago.
create index if not exists jobs_due on jobs (location_id, priority, position)
  where finished_at is null and pending_children = 0;
create index if not exists jobs_by_due_at on jobs (due_at) where finished_at is null and pending_children = 0;
drop index if exists jobs_waiting, jobs_by_due;
