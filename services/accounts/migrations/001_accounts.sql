-- Locations with their options and settings, consumers, and the hashes of their keys.
-- Times that lists are ordered by have milliseconds, as clients and page tokens do.

create table locations (
  id uuid primary key,
  application text not null check (application in ('POPINA', 'JALIA')),
  legacy_id bigint check (legacy_id >= 1),
  organization_id text not null,
  agency_id text not null,
  options jsonb not null,
  settings_id uuid not null,
  settings jsonb not null,
  time_zone text not null generated always as (settings ->> 'timezone') stored,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index locations_legacy_id on locations (application, legacy_id) where legacy_id is not null;
create index locations_created_at on locations (created_at, id);

-- The devices seen in a location's tills and live orders.
create table devices (
  location_id uuid not null references locations,
  id text not null,
  name text,
  model text,
  first_seen_at timestamptz(3) not null default now(),
  primary key (location_id, id)
);

create table consumers (
  id uuid primary key,
  name text not null unique,
  scopes text[] not null,
  -- {perSecond, burst}; null for the limit that every key has by default.
  rate_limit jsonb,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index consumers_created_at on consumers (created_at, id);

create table api_keys (
  id uuid primary key,
  -- SHA-256 of the key, in hexadecimal. The key itself is kept nowhere.
  hash text not null unique check (hash ~ '^[0-9a-f]{64}$'),
  prefix text not null,
  consumer_id uuid not null references consumers,
  -- None for the operator's own keys.
  location_id uuid references locations,
  -- How it came to be: asked for, made at the first start, or given in the environment.
  made_from text not null check (made_from in ('request', 'first start', 'environment')),
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);
create index api_keys_created_at on api_keys (created_at, id);
create index api_keys_location on api_keys (location_id, created_at, id);
create index api_keys_consumer on api_keys (consumer_id);
