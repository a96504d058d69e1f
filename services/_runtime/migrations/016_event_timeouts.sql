-- How many handlers of the event were abandoned because they did not end in time, over all instances and restarts.
alter table event_attempts add column timeouts integer not null default 0;
