-- A sandbox, from the request that creates it until a day after, when it no longer counts toward the limit of its address.
create table sandboxes (
  -- Also the id of its webhook and of the recipient of its inbox.
  id uuid primary key,
  -- removing: its location was verified to be a sandbox, and its removal has begun.
  state text not null check (state in ('creating', 'filling', 'ready', 'removing', 'removed')),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  -- SHA-256 of the network from which it was created.
  client_network_hash text not null,
  -- Null until the location is created.
  location_id uuid unique,
  location_name text,
  time_zone text,
  currency_code text,
  -- The API key with which this service acts in the sandbox.
  encrypted_key text,
  inbox_token text not null unique,
  encrypted_inbox_secret text not null,
  -- The number of steps of the filling that are done.
  filled_steps int not null default 0,
  -- Whether the webhooks service accepts the URL of the inbox as an endpoint.
  has_inbox boolean not null default false,
  used_at timestamptz(3) not null default now(),
  -- The current simulated shift, the time up to which its live orders were sent, and the number of earlier shifts.
  shift_started_at timestamptz(3),
  shift_sent_until timestamptz(3),
  shift_count int not null default 0,
  -- The number of tills that events have pushed.
  pushed_till_count int not null default 0,
  failing_deliveries int not null default 0,
  -- When the next work is due, and until when an instance holds the sandbox.
  due_at timestamptz(3) not null,
  leased_until timestamptz(3)
);
create index sandboxes_due_at on sandboxes (due_at);

-- The webhook messages that the inboxes have received.
create table messages (
  location_id uuid not null,
  id uuid not null default gen_random_uuid(),
  created_at timestamptz(3) not null default clock_timestamp(),
  headers jsonb not null,
  body text not null,
  verification_error text,
  response_status int not null,
  primary key (location_id, created_at, id)
);
