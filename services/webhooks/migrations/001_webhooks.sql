-- Who gets webhooks, what is sent to them, and what became of it.

create table recipients (
  id uuid primary key,
  location_id uuid not null,
  name text not null,
  -- What is sent as the header authorization, encrypted.
  sealed_api_key text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index recipients_of_location on recipients (location_id, created_at, id);

-- What messages are signed with. One that was rotated away signs on until it expires.
create table recipient_secrets (
  recipient_id uuid not null references recipients on delete cascade,
  -- 1, 2, 3: the highest is the latest.
  number int not null,
  sealed_secret text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  primary key (recipient_id, number)
);

create table webhooks (
  id uuid primary key,
  location_id uuid not null,
  recipient_id uuid not null references recipients,
  endpoint_url text not null,
  events text[] not null,
  -- deleted: on its way out with its deliveries, and to be seen by nobody.
  state text not null check (state in ('active', 'paused', 'disabled', 'deleted')),
  disabled_reason text check ((disabled_reason is not null) = (state = 'disabled')),
  -- One more with each change of what is sent where, under which signature: tells whether a copy is fresh.
  revision int not null,
  -- When the first attempt failed since the last that succeeded, and why the latest did.
  failing_since timestamptz(3),
  last_error text,
  -- When the recipient's other endpoints were told that this one is failing.
  warned_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index webhooks_of_location on webhooks (location_id, created_at, id);
create index webhooks_of_recipient on webhooks (recipient_id);
create index webhooks_deleted on webhooks (id) where state = 'deleted';

-- What is sent, once for all webhooks that it is sent to.
create table messages (
  id uuid primary key,
  body text compression lz4 not null,
  created_at timestamptz(3) not null
);
create index messages_created_at on messages (created_at);

create table deliveries (
  id uuid primary key,
  message_id uuid not null references messages,
  webhook_id uuid not null references webhooks,
  event text not null,
  state text not null check (state in ('pending', 'sending', 'succeeded', 'failed')),
  -- One more each time that it is made again on request.
  generation int not null,
  -- Number of the attempt, in this generation, that is under way or comes next.
  attempt int not null,
  -- How many attempts of this generation have failed.
  failures int not null,
  -- pending: when it is due; sending: when whoever took it is presumed dead.
  due_at timestamptz(3) check ((due_at is not null) = (state in ('pending', 'sending'))),
  settled_at timestamptz(3),
  created_at timestamptz(3) not null
);
create unique index deliveries_of_message on deliveries (message_id, webhook_id);
create index deliveries_listed on deliveries (webhook_id, created_at, id) include (event, state);
create index deliveries_due on deliveries (webhook_id, due_at) where state = 'pending';
create index deliveries_sending on deliveries (due_at) where state = 'sending';
create index deliveries_created_at on deliveries (created_at);

-- Every attempt. Those of a delivery are removed with it.
create table attempts (
  delivery_id uuid not null,
  generation int not null,
  number int not null,
  started_at timestamptz(3) not null,
  milliseconds int,
  status int,
  error text,
  response text compression lz4,
  next_attempt_at timestamptz(3),
  primary key (delivery_id, generation, number)
);

-- How attempts went, by hour.
create table webhook_hours (
  webhook_id uuid not null references webhooks on delete cascade,
  hour timestamptz not null,
  succeeded int not null,
  failed int not null,
  milliseconds bigint not null,
  last_succeeded_at timestamptz(3),
  last_failed_at timestamptz(3),
  primary key (webhook_id, hour)
);
create index webhook_hours_by_hour on webhook_hours (hour);

-- Requests to make again what failed, each done in portions: which deliveries are left is told by the place reached.
create table recoveries (
  id uuid primary key,
  webhook_id uuid not null references webhooks on delete cascade,
  since timestamptz(3) not null,
  created_at timestamptz(3) not null,
  total int not null,
  recovered int not null default 0,
  reached_at timestamptz(3),
  reached_id uuid,
  finished_at timestamptz(3)
);
create index recoveries_of_webhook on recoveries (webhook_id, created_at);
create index recoveries_unfinished on recoveries (created_at) where finished_at is null;
