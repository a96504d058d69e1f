-- The keys of recipients, webhooks and their secrets, statistics and recoveries begin with the location. These tables
-- have few rows, so their keys are replaced in place.

-- At once, so that a request that uses several of them does not cause a deadlock.
lock table recipients, signing_secrets, webhooks, deliveries, webhook_hourly_stats, delivery_recoveries
  in access exclusive mode;

-- They refer to the keys that are replaced.
alter table deliveries drop constraint deliveries_webhook_id_fkey;
alter table webhook_hourly_stats drop constraint webhook_hours_webhook_id_fkey;
alter table delivery_recoveries drop constraint recoveries_webhook_id_fkey;
alter table signing_secrets drop constraint recipient_secrets_recipient_id_fkey;
alter table webhooks drop constraint webhooks_recipient_id_fkey;

-- Clients choose the ids of recipients and webhooks. An id is unique in the installation, so that operators, whose keys
-- have locations:any, find a row by its id alone. Version 1.0 also finds conflicts by it.
create unique index recipients_by_id on recipients (id);
alter table recipients drop constraint recipients_pkey, add primary key (location_id, id);
create unique index webhooks_by_id on webhooks (id);
alter table webhooks
  drop constraint webhooks_pkey,
  add primary key (location_id, id),
  add foreign key (location_id, recipient_id) references recipients;

-- The trigger sets the location of a row that version 1.0 inserts. A later version drops the triggers and their functions.
alter table signing_secrets add column location_id uuid;
update signing_secrets secret set location_id = recipient.location_id
from recipients recipient where recipient.id = secret.recipient_id;
create function set_signing_secret_location() returns trigger language plpgsql as $$
begin
  select location_id into new.location_id from recipients where id = new.recipient_id;
  return new;
end
$$;
create trigger set_signing_secret_location before insert on signing_secrets for each row
  when (new.location_id is null)
  execute function set_signing_secret_location();
alter table signing_secrets
  drop constraint signing_secrets_pkey,
  add primary key (location_id, recipient_id, version),
  add foreign key (location_id, recipient_id) references recipients on delete cascade;

create function set_location_of_webhook() returns trigger language plpgsql as $$
begin
  select location_id into new.location_id from webhooks where id = new.webhook_id;
  return new;
end
$$;

-- Has at most one row for each webhook and hour of the retention.
alter table webhook_hourly_stats add column location_id uuid;
update webhook_hourly_stats stats set location_id = webhook.location_id
from webhooks webhook where webhook.id = stats.webhook_id;
create trigger set_location_of_webhook before insert on webhook_hourly_stats for each row
  when (new.location_id is null)
  execute function set_location_of_webhook();
alter table webhook_hourly_stats
  drop constraint webhook_hourly_stats_pkey,
  add primary key (location_id, webhook_id, hour),
  add foreign key (location_id, webhook_id) references webhooks on delete cascade;

alter table delivery_recoveries add column location_id uuid;
update delivery_recoveries recovery set location_id = webhook.location_id
from webhooks webhook where webhook.id = recovery.webhook_id;
create trigger set_location_of_webhook before insert on delivery_recoveries for each row
  when (new.location_id is null)
  execute function set_location_of_webhook();
drop index delivery_recoveries_unfinished_of_webhook;
alter table delivery_recoveries
  drop constraint delivery_recoveries_pkey,
  add primary key (location_id, id),
  add foreign key (location_id, webhook_id) references webhooks on delete cascade;
create unique index delivery_recoveries_unfinished_by_location on delivery_recoveries (location_id, webhook_id)
  where finished_at is null;

-- Version 1.0 finds rows and conflicts without the location. A later version drops these indexes. An installation that
-- has no recipient and no process of version 1.0 never gets rows from it. The indexes come after the keys above: a
-- concurrent insertion of the same row is found first by the key that this version names.
do $$
begin
  if not is_version_1_0_connected() and not exists (select from recipients) then return; end if;
  create index signing_secrets_by_recipient on signing_secrets (recipient_id);
  create unique index webhook_hourly_stats_by_webhook on webhook_hourly_stats (webhook_id, hour);
  create index delivery_recoveries_by_id on delivery_recoveries (id);
  create unique index delivery_recoveries_unfinished_of_webhook on delivery_recoveries (webhook_id)
    where finished_at is null;
end
$$;
