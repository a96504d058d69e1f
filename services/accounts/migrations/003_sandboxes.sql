-- Locations that the service sandboxes created. Lists and totals for operators leave them out unless asked.

alter table locations add column is_sandbox boolean not null default false;
