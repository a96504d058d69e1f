-- Has the jobs wait that a version from before 004 created, whose queues knew when each is due. Unfinished jobs are few:
-- what finished is not touched.
update jobs set
  queued_at = null,
  due_at = to_timestamp((timestamp + coalesce((options ->> 'delay')::float8, 0)) / 1000),
  priority = least(coalesce((options ->> 'priority')::int, 0), 2097151),
  position = extract(epoch from created_at) * case when (options ->> 'lifo')::boolean then -1 else 1 end,
  pending_children = (
    select count(*) from jobs as child
    where child.location_id = jobs.location_id and child.options -> 'parent' ->> 'id' = jobs.id
      and (child.finished_at is null or child.outcome = 'failed' and not child.options ?| array[
        'failParentOnFailure', 'ignoreDependencyOnFailure', 'removeDependencyOnFailure']))
where finished_at is null and due_at is null and not options ? 'repeat';
