-- The last revision whose report could not be computed, and why: a name in tillReportParkedReasons. The table may be
-- partitioned later, so that the partitioned table exists, too.
do $$
declare
  target text;
begin
  foreach target in array '{tills, tills_partitioned}'::text[] loop
    if to_regclass(target) is null then continue; end if;
    execute format('alter table %I add column parked_revision int, add column parked_reason text', target);
  end loop;
end
$$;
