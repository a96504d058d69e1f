-- Renames `parked_messages` and its `parked_at`. Instances of the previous version use the view with the former names.
alter table parked_messages rename to dead_letters;
alter table dead_letters rename column parked_at to dead_lettered_at;
alter index parked_messages_pkey rename to dead_letters_pkey;
alter index parked_messages_by_subject rename to dead_letters_by_subject;

create view parked_messages as
  select event_id, subscription, type, body, reason, dead_lettered_at as parked_at, subject from dead_letters;

-- Grants the privileges on a renamed table also on the view with its former name, because privileges stay with the
-- table, and the `migrate` command grants those on new relations only after the commit.
create function copy_grants(source regclass, target regclass) returns void language plpgsql as $$
declare
  service_role regrole;
begin
  for service_role in
    select distinct grantee from pg_class, aclexplode(relacl) where oid = source and grantee not in (0, relowner)
  loop
    execute format('grant select, insert, update, delete on %s to %s', target, service_role);
  end loop;
end
$$;
select copy_grants('dead_letters', 'parked_messages');
