-- What events have done, which the API cannot state.
alter table sandboxes
  -- The problem that the event `day.broken` last gave to the newest of the thirty days.
  add column newest_day_problem text,
  -- The orders that events last closed, so that two events cannot close the same order.
  add column closed_order_ids uuid[] not null default '{}';

-- The bytes of a body that `body` cannot contain: with a NUL, or not valid UTF-8. Null for other bodies.
alter table messages add column body_bytes bytea;
