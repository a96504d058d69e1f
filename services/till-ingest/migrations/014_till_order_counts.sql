-- The number of orders in the current body of a till. Null for tills that version 1.1.0 stores. The table may be
-- partitioned later, so that the partitioned table exists, too.
do $$
declare
  target text;
begin
  foreach target in array '{tills, tills_partitioned}'::text[] loop
    if to_regclass(target) is null then continue; end if;
    execute format('alter table %I add column order_count int', target);
  end loop;
end
$$;
