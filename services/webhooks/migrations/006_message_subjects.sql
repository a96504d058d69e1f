-- The order that a message tells of; of a message that tells of none, its own id. Null where an older version wrote it.
alter table messages add column if not exists subject uuid;
create index if not exists messages_subject on messages (subject);
