-- What journal entries need to know of a till beyond its report. Null: the report was made before this was noted.
alter table reports add column accounting_facts text compression lz4;

-- How reports become journal entries. The body is the reply that is sent.
create table accounting_configs (
  id uuid primary key,
  location_id uuid not null,
  created_at timestamptz(3) not null,
  body text compression lz4 not null,
  etag text not null
);
create index accounting_configs_by_time on accounting_configs (location_id, created_at, id);
