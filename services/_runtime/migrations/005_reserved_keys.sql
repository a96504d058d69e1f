-- A key is reserved, in a row that is committed, before the work begins: `answered_at` is null while it is in progress.
-- The reply comes into the row in the transaction of the effect. Of what has no reply, the version before sees nothing.
alter table idempotency_keys
  alter column status drop not null,
  alter column sealed_reply drop not null,
  alter column answered_at drop not null,
  -- Which reservation it is: a request whose key was taken over cannot complete it.
  add column reservation uuid,
  -- The `application_name` of the process that is handling it: with its connections gone, the key may be taken over.
  add column holder text,
  add column reserved_at timestamptz;
