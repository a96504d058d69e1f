-- `next_requeue_at` and `requeue_count` replace `next_sweep_at` and `sweeps`, which instances of the previous version
-- use. For a large table, run the statements that contain `if not exists` by hand before the release, the second as
-- `create index concurrently`.
alter table tills
  add column if not exists next_requeue_at timestamptz,
  add column if not exists requeue_count int not null default 0;
create index if not exists tills_to_requeue on tills (next_requeue_at) where next_requeue_at is not null;

-- The columns of tills that do not wait for a report are not read.
update tills set next_requeue_at = next_sweep_at, requeue_count = sweeps where next_sweep_at is not null;

-- Copies the values that an instance of either version writes to the columns of the other. Both columns are copied
-- together, because their values can differ in the existing tills that do not wait for a report.
create function copy_till_requeue() returns trigger language plpgsql as $$
declare
  uses_new_names boolean := case tg_op
    when 'INSERT' then new.next_requeue_at is not null
    else (new.next_requeue_at, new.requeue_count) is distinct from (old.next_requeue_at, old.requeue_count)
  end;
begin
  if uses_new_names then
    new.next_sweep_at := new.next_requeue_at;
    new.sweeps := new.requeue_count;
  else
    new.next_requeue_at := new.next_sweep_at;
    new.requeue_count := new.sweeps;
  end if;
  return new;
end
$$;
create trigger copy_till_requeue_on_insert before insert on tills for each row
  when ((new.next_sweep_at, new.sweeps) is distinct from (new.next_requeue_at, new.requeue_count))
  execute function copy_till_requeue();
create trigger copy_till_requeue_on_update before update on tills for each row
  when (
    (new.next_sweep_at, new.sweeps, new.next_requeue_at, new.requeue_count)
      is distinct from (old.next_sweep_at, old.sweeps, old.next_requeue_at, old.requeue_count)
  )
  execute function copy_till_requeue();
