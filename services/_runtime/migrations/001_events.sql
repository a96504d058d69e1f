-- What every service has: events to send, events handled, and messages that could not be handled.

create table outbox (
  id uuid primary key,
  -- The order of publishing within this schema. Rows are taken by being there, never by a number above the last.
  position bigint generated always as identity,
  type text not null,
  location_id uuid,
  body text not null,
  created_at timestamptz not null default now()
);
create index outbox_position on outbox (position);

create table inbox (
  event_id uuid not null,
  subscription text not null,
  handled_at timestamptz not null default now(),
  primary key (event_id, subscription)
);
create index inbox_handled_at on inbox (handled_at);

create table parked_messages (
  event_id uuid not null,
  subscription text not null,
  type text not null,
  body text not null,
  reason text not null,
  parked_at timestamptz not null default now(),
  primary key (event_id, subscription)
);
