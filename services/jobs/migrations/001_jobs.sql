-- Jobs as they were asked for, and what became of them. Queues on Redis are filled from here, and again when they have
-- lost something.
create table jobs (
  location_id uuid not null,
  id text not null,
  -- The key that asked for it.
  key_id uuid not null,
  consumer text not null,
  message text not null,
  -- In milliseconds, as is what the options say.
  duration bigint not null,
  options jsonb not null,
  -- When the job came to be, in milliseconds since 1970: what a delay counts from.
  timestamp bigint not null,
  created_at timestamptz not null default now(),
  -- What makes another job a duplicate of this one; until when, or until this one has finished when that is null.
  deduplication_id text,
  deduplicated_until timestamptz,
  -- When it was given to its queue; null when that has to be done, or done again.
  queued_at timestamptz,
  -- Somebody is doing it, and has until then to say so again; null when nobody is.
  held_until timestamptz,
  attempts_made int not null default 0,
  -- All is done but to wait for its children.
  is_performed boolean not null default false,
  progress int not null default 0,
  -- Of a repeating job: how often it was done, and the last time that it was due, in milliseconds since 1970.
  runs int not null default 0,
  last_due bigint,
  result jsonb,
  failure text,
  outcome text check (outcome in ('completed', 'failed')),
  finished_at timestamptz(3),
  primary key (location_id, id)
);
create index jobs_unfinished_by_key on jobs (key_id) where finished_at is null;
create index jobs_unfinished on jobs (location_id, id) where finished_at is null;
create index jobs_to_queue on jobs (created_at, id) where finished_at is null and queued_at is null;
create index jobs_to_queue_by_parent on jobs (location_id, (options -> 'parent' ->> 'id'))
  where finished_at is null and queued_at is null;
create index jobs_finished on jobs (location_id, outcome, finished_at) where finished_at is not null;
create index jobs_by_end on jobs (finished_at) where finished_at is not null;
create index jobs_by_deduplication on jobs (location_id, deduplication_id) where deduplication_id is not null;
