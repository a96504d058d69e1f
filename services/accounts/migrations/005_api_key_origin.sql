-- `created_from` replaces `made_from`, which instances of the previous version use.
alter table api_keys add column created_from text check (created_from in ('request', 'first start', 'environment'));
update api_keys set created_from = made_from;

-- Copies the value that an instance of either version writes to the column of the other.
create function copy_api_key_origin() returns trigger language plpgsql as $$
begin
  new.created_from := coalesce(new.created_from, new.made_from);
  new.made_from := new.created_from;
  return new;
end
$$;
-- No version changes the value of an existing key.
create trigger copy_api_key_origin before insert on api_keys for each row execute function copy_api_key_origin();
