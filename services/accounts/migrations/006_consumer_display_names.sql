-- `display_name` replaces `given_name`, which instances of the previous version use.
alter table consumers add column display_name text;
update consumers set display_name = given_name where given_name is not null;
create unique index consumers_display_name on consumers (location_id, coalesce(display_name, name))
  where location_id is not null;

-- Copies the value that an instance of either version writes to the column of the other.
create function copy_consumer_display_name() returns trigger language plpgsql as $$
begin
  new.display_name := coalesce(new.display_name, new.given_name);
  new.given_name := new.display_name;
  return new;
end
$$;
-- No version changes the name of an existing consumer.
create trigger copy_consumer_display_name before insert on consumers for each row
  when (new.given_name is distinct from new.display_name)
  execute function copy_consumer_display_name();
