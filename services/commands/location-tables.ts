import type { ServiceName } from "@pragma/contracts/service-names";
import type postgres from "postgres";

/** A table of a service, and which of its rows belong to a location. */
export interface LocationTable {
  name: string;
  /** An SQL condition on the rows of one location. `$1` is the id of the location. */
  condition: string;
}

/** Why none of a table's rows belongs to a location. */
interface TableWithoutLocation {
  reason: string;
}

const locationWebhooks = "select id from webhooks where location_id = $1";
const locationDeliveries = `select id from deliveries where webhook_id in (${locationWebhooks})`;

/**
 * The tables in which a column `location_id` that is never null does not tell the rows of a location: by service, or
 * under `*` for tables that every service has. All other tables must have the column.
 */
const exceptions: Record<string, Record<string, Pick<LocationTable, "condition"> | TableWithoutLocation>> = {
  "*": {
    migrations: { reason: "One row for each migration of the service." },
    replica_heartbeat: { reason: "One row for the service." },
    outbox: { condition: "location_id = $1" },
    inbox: { reason: "Contains only the ids of events." },
    event_attempts: { reason: "Contains only the ids of events." },
    // The stored events name their location. An invalid one may not be JSON.
    dead_letters: { condition: "position($1::text in body) > 0" },
    idempotent_requests: { reason: "Responses to repeated requests, which are deleted after 24 hours." },
  },
  accounts: {
    locations: { condition: "id = $1" },
    // A consumer without a location can have keys of several locations.
    consumers: {
      condition: "location_id = $1 or id in (select consumer_id from api_keys where location_id = $1)",
    },
    // Operators' keys have no location.
    api_keys: { condition: "location_id = $1" },
  },
  "till-ingest": {
    // The location of a revision is null until the table is partitioned.
    till_versions: { condition: "till_id in (select id from tills where location_id = $1)" },
    // Can concern all locations.
    till_reprocessings: { condition: "location_id = $1" },
    till_location_backfill: { reason: "One row for the service." },
    pending_uploads: { reason: "Contains the keys of bodies to which no till refers, which are deleted within a day." },
  },
  reporting: {
    // One export can contain tills of several locations. Only those of a single one belong to it.
    accounting_exports: { condition: "location_id = $1" },
  },
  webhooks: {
    signing_secrets: { condition: "recipient_id in (select id from recipients where location_id = $1)" },
    messages: {
      condition: `id in (select message_id from deliveries where webhook_id in (${locationWebhooks}))`,
    },
    deliveries: { condition: `webhook_id in (${locationWebhooks})` },
    attempts: { condition: `delivery_id in (${locationDeliveries})` },
    webhook_hourly_stats: { condition: `webhook_id in (${locationWebhooks})` },
    delivery_recoveries: { condition: `webhook_id in (${locationWebhooks})` },
  },
};

/**
 * Returns the tables of a service that can contain rows of a location, read from the database, so that none is
 * forgotten. A partitioned table is one table. Tables that `partition-tables` has replaced or not yet filled are
 * included, because they contain rows of locations too.
 *
 * @throws `Error` that names the tables of which it is not decided which rows belong to a location.
 */
export async function listLocationTables(
  sql: postgres.Sql,
  { name: service, schema }: { name: ServiceName; schema: string },
): Promise<LocationTable[]> {
  const tables = await sql<{ name: string; hasLocation: boolean }[]>`
    select relname as name, attnum is not null as "hasLocation" from pg_class
    left join pg_attribute on attrelid = pg_class.oid and attname = 'location_id' and attnotnull and not attisdropped
    where relnamespace = to_regnamespace(${schema}) and relkind in ('r', 'p') and not relispartition
    order by relname`;
  const undecided: string[] = [];
  const locationTables: LocationTable[] = [];
  for (const { name, hasLocation } of tables) {
    // `partition-tables` adds these suffixes to the names of the tables that it replaces or fills.
    const exception = exceptions[service]?.[name.replace(/_(un)?partitioned$/, "")] ?? exceptions["*"]?.[name];
    if (hasLocation) locationTables.push({ name, condition: "location_id = $1" });
    else if (!exception) undecided.push(`${service}.${name}`);
    else if ("condition" in exception) locationTables.push({ name, condition: exception.condition });
  }
  if (undecided.length > 0)
    throw new Error(
      `It is not decided which rows of ${undecided.join(", ")} belong to a location. Add the tables to location-tables.ts.`,
    );
  return locationTables;
}
