-- `expires_at` is the expiry that was requested, and `overlap_ends_at` the end of the overlap after a rotation: a key
-- works until the earlier of both. `created_by` and `revoked_by` are the ids of the keys that created and revoked the key.
-- They are null for keys of earlier versions, and for keys that no other key created or revoked.
alter table api_keys
  add column expires_at timestamptz(3),
  add column overlap_ends_at timestamptz(3),
  add column created_by uuid,
  add column revoked_by uuid;
