-- Whether messages to the endpoint count toward the daily quota of a sandbox. False for other locations and for the inbox.
alter table webhooks add column has_message_quota boolean not null default false;
