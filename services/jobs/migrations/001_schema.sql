-- Jobs as they were requested, and their results. The queues on Redis are filled from here, and again when they have lost
-- something: only so many jobs of a location are in the queue at a time, and the others wait here, in their order.
--
-- Each job is updated when it is queued, leased, renewed, reports progress and finishes. Renewals and progress change no
-- indexed column, and with free space on the page such an update changes no index. The other updates leave dead entries in
-- the indexes of unfinished jobs, which finished jobs must not keep autovacuum from removing.
create table location_jobs (
  location_id uuid not null,
  id text not null,
  -- The API key of the request.
  key_id uuid not null,
  consumer text not null,
  -- The trace (W3C traceparent) of the request, which the job continues.
  traceparent text,
  message text not null,
  -- In milliseconds, like the durations in the options.
  duration bigint not null,
  options jsonb not null,
  -- When the job was created, in milliseconds since 1970: the start of its delay.
  timestamp bigint not null,
  created_at timestamptz not null default now(),
  -- What makes another job a duplicate of this one; until when, or until this one has finished if that is null.
  deduplication_id text,
  deduplicated_until timestamptz,
  -- When the job may run. Null for a repeating job, whose runs are rows of their own.
  due_at timestamptz,
  -- 0: none, which goes first; then 1 to 2097151.
  priority int not null default 0,
  -- The order among jobs of the same priority: when the job is due, in seconds since 1970; negative for lifo.
  sort_position double precision not null default 0,
  -- When the job was given to its queue on Redis; null while it waits here.
  queued_at timestamptz,
  -- The lease of the process that runs the job, and when it expires. A process that has lost the lease changes nothing.
  lease_id uuid,
  lease_expires_at timestamptz,
  attempts_made int not null default 0,
  progress int not null default 0,
  -- Whether the job's own work is done, so that it waits only for its children.
  is_work_done boolean not null default false,
  -- Number of children, including finished children, and of those that the job waits for.
  total_children int not null default 0,
  pending_children int not null default 0,
  -- Of a repeating job: the number of its runs, and when the latest is due, in milliseconds since 1970.
  runs int not null default 0,
  last_due_ms bigint,
  -- The id of the repeating job of which this job is a run. The run's id is that id, a colon, and when the run is due.
  repeating_job_id text,
  outcome text check (outcome in ('completed', 'failed')),
  result jsonb,
  failure text,
  finished_at timestamptz(3),
  primary key (location_id, id)
) with (
  fillfactor = 75, autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02
);
create index location_jobs_unfinished on location_jobs (location_id, id) where finished_at is null;
create index location_jobs_unfinished_by_key on location_jobs (key_id) where finished_at is null;
-- A job that was given to the queue on Redis and is lost there is due like one that was not: queued_at shows since when.
create index location_jobs_due on location_jobs (location_id, priority, sort_position)
  where finished_at is null and pending_children = 0;
create index location_jobs_by_due_at on location_jobs (due_at) where finished_at is null and pending_children = 0;
create index location_jobs_in_queue on location_jobs (location_id) where finished_at is null and queued_at is not null;
create index location_jobs_runs on location_jobs (location_id, repeating_job_id) where repeating_job_id is not null;
create index location_jobs_by_deduplication on location_jobs (location_id, deduplication_id)
  where deduplication_id is not null;
create index location_jobs_finished on location_jobs (location_id, outcome, finished_at) where finished_at is not null;
create index location_jobs_by_end on location_jobs (finished_at) where finished_at is not null;
