-- Renames `idempotency_keys` and four of its columns. Instances of the previous version use the view with the former
-- names, and delete its rows by their ctid.
alter table idempotency_keys rename to idempotent_requests;
alter table idempotent_requests rename column sealed_reply to encrypted_response;
alter table idempotent_requests rename column answered_at to completed_at;
alter table idempotent_requests rename column reservation to reservation_id;
alter table idempotent_requests rename column holder to process_name;
alter index idempotency_keys_pkey rename to idempotent_requests_pkey;
alter index idempotency_keys_by_age rename to idempotent_requests_by_age;

create view idempotency_keys as
  select
    owner, key, fingerprint, status, encrypted_response as sealed_reply, completed_at as answered_at,
    reservation_id as reservation, process_name as holder, reserved_at, ctid
  from idempotent_requests;
select copy_grants('idempotent_requests', 'idempotency_keys');
