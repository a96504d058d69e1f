#!/bin/sh
# Creates the role pragma_monitor, which can read statistics but no data, for postgres_exporter. PGHOST, PGUSER and
# PGPASSWORD are those of the owner.
set -eu
: "${POSTGRES_PASSWORD_MONITOR:?is not set: run deploy/docker/make-env}"
psql --dbname="${PGDATABASE:-pragma}" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=password="$POSTGRES_PASSWORD_MONITOR" <<'SQL'
select 'create role pragma_monitor login'
where not exists (select from pg_roles where rolname = 'pragma_monitor')
\gexec
alter role pragma_monitor password :'password' connection limit 5;
grant pg_monitor to pragma_monitor;
SQL
