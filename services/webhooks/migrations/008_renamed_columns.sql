-- Adds two columns that replace others. Instances of the previous version use the former columns, and triggers keep both
-- equal. A later version drops the triggers, their functions, recipients.sealed_api_key and deliveries.again.

-- What is sent as the header authorization, encrypted. Replaces sealed_api_key.
alter table recipients add column encrypted_api_key text;
update recipients set encrypted_api_key = sealed_api_key where sealed_api_key is not null;
create function sync_encrypted_api_key() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    new.encrypted_api_key := coalesce(new.encrypted_api_key, new.sealed_api_key);
    new.sealed_api_key := new.encrypted_api_key;
  elsif new.encrypted_api_key is distinct from old.encrypted_api_key then
    new.sealed_api_key := new.encrypted_api_key;
  else
    new.encrypted_api_key := new.sealed_api_key;
  end if;
  return new;
end $$;
create trigger sync_encrypted_api_key before insert or update of encrypted_api_key, sealed_api_key on recipients
  for each row execute function sync_encrypted_api_key();

-- Whether a new generation starts if the attempt in flight fails, because a recovery was requested in the meantime.
-- Replaces again.
alter table deliveries add column retry_requested boolean not null default false;
alter table deliveries add constraint deliveries_retry_requested_check
  check (not retry_requested or state = 'sending') not valid;
-- Only deliveries with an attempt in flight are marked, and an index finds them.
update deliveries set retry_requested = true where again and state = 'sending';
create function sync_retry_requested() returns trigger language plpgsql as $$
begin
  if new.retry_requested is distinct from old.retry_requested then
    new.again := new.retry_requested;
  else
    new.retry_requested := new.again;
  end if;
  return new;
end $$;
-- No version inserts a marked delivery, so inserts need no trigger.
create trigger sync_retry_requested before update on deliveries for each row
  when (new.retry_requested is distinct from old.retry_requested or new.again is distinct from old.again)
  execute function sync_retry_requested();
