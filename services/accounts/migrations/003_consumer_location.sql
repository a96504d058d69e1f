-- The location whose key made a consumer; none when a key without a location did.
alter table consumers add location_id uuid;
