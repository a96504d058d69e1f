-- What a parked message is about: where only the latest about a thing matters, it takes the place of earlier ones.
alter table parked_messages add column subject text;
create index parked_messages_by_subject on parked_messages (subscription, subject);

-- Events that were delivered again and whose handling has not come to any end: a process that dies handling one leaves
-- its count behind, so that it is not tried for ever.
create table handling_attempts (
  event_id uuid not null,
  subscription text not null,
  tries int not null default 1,
  tried_at timestamptz not null default now(),
  primary key (event_id, subscription)
);
