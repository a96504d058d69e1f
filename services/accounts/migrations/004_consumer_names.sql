-- The name of a consumer that a location's key created, which is unique at that location. Its `name` begins with the
-- location's id and so stays unique in the installation, as the version before expects. Null: `name` is the name.
alter table consumers add given_name text;
create unique index consumers_given_name on consumers (location_id, coalesce(given_name, name)) where location_id is not null;
