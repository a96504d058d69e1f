-- The last revision of a till that erased personal data. Null if there is none, or if version 1.1 created it. The table may
-- be partitioned later, so that the partitioned table exists, too.
do $$
declare
  target text;
begin
  foreach target in array '{tills, tills_partitioned}'::text[] loop
    if to_regclass(target) is null then continue; end if;
    execute format('alter table %I add column erased_revision int', target);
  end loop;
end
$$;
