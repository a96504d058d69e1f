import type { BusEventType } from "@pragma/contracts/events";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import type postgres from "postgres";

export interface LocationTable {
  name: string;
  /** An SQL condition on the rows of one location. `$1` is the id of the location. */
  condition: string;
  /** The condition on those that a removal of the location deletes; all by default. */
  removalCondition?: string;
}

/** Events without data of the location: services forget it because of them, or they are of the audit log. */
export const keptEventTypes: BusEventType[] = ["key.changed", "location.updated", "audit.recorded"];

const removedEventCondition = `location_id = $1 and type not in (${keptEventTypes.map((type) => `'${type}'`).join(", ")})`;

/** Rows of a business belong to a location if it is the only one of the business. The other tables are emptied first. */
const isOnlyLocation = "(settings->'locationIds')::jsonb = jsonb_build_array($1::text)";
const isOfOnlyLocation = `siren in (select declarant.siren from e_declarants as declarant where ${isOnlyLocation})`;

/** Periods that a business with other locations has reported must not change. */
const isOfNoOtherLocation =
  "siren is null or siren not in (select declarant.siren from e_declarants as declarant where jsonb_array_length((settings->'locationIds')::jsonb) > 1 and (settings->'locationIds')::jsonb @> jsonb_build_array($1::text))";

/**
 * The tables in which a column `location_id` that is never null does not tell the rows of a location: by service, or
 * under `*` for tables that every service has. All other tables must have the column.
 */
const exceptions: Record<string, Record<string, Omit<LocationTable, "name"> | { reason: string }>> = {
  "*": {
    migrations: { reason: "One row for each migration of the service." },
    replica_heartbeat: { reason: "One row for the service." },
    outbox: { condition: "location_id = $1", removalCondition: removedEventCondition },
    sent_events: { condition: "location_id = $1", removalCondition: removedEventCondition },
    inbox: { reason: "Contains only the ids of events." },
    event_attempts: { reason: "Contains only the ids of events." },
    removed_locations: { reason: "Contains the ids of removed locations, so that nothing is stored for them again." },
    // The stored events name their location. An invalid one may not be JSON.
    dead_letters: { condition: "position($1::text in body) > 0" },
    idempotent_requests: { reason: "Responses to repeated requests, which are deleted after 24 hours." },
  },
  accounts: {
    locations: { condition: "id = $1" },
    // A consumer without a location can have keys of several locations.
    consumers: {
      condition: "location_id = $1 or id in (select consumer_id from api_keys where location_id = $1)",
      // Operators' consumers, and consumers with keys of other locations, remain.
      removalCondition: "location_id = $1 and not exists (select from api_keys where consumer_id = consumers.id)",
    },
    // Operators' keys have no location.
    api_keys: { condition: "location_id = $1" },
    audit_events: { reason: "Tells what was done in this installation, also to a location that has been removed." },
  },
  "till-ingest": {
    // Can concern all locations.
    till_reprocessings: { condition: "location_id = $1" },
    pending_uploads: { reason: "Contains the keys of bodies to which no till refers, which are deleted within a day." },
  },
  reporting: {
    // A task of reporting deletes these objects and rows, so that the objects of uploads in progress are found.
    unused_objects: { condition: "location_id = $1", removalCondition: "false" },
    // One export can contain tills of several locations. Only those of a single one belong to it.
    exports: { condition: "location_id = $1" },
    e_till_figures: {
      condition: "location_id = $1",
      removalCondition: `location_id = $1 and (${isOfNoOtherLocation})`,
    },
    e_business_locations: {
      condition: "location_id = $1",
      removalCondition: `location_id = $1 and (${isOfNoOtherLocation})`,
    },
    e_declarants: { condition: isOnlyLocation },
    e_published_states: { condition: isOfOnlyLocation },
    e_transmissions: { condition: isOfOnlyLocation },
  },
  sandboxes: {
    sandboxes: {
      reason: "The state of sandboxes and their removals, which the service deletes a day after the creation.",
    },
  },
  webhooks: {
    all_changes_position: { reason: "One row for the service." },
    // The entry about the removal remains.
    all_changes: { condition: "location_id = $1 and removed_at is null" },
  },
};

interface ObjectColumn {
  service: ServiceName;
  table: string;
  column: string;
  hash: string;
  /** An SQL condition on the rows that have their object. */
  condition: string;
  /** An SQL condition on those of them whose object backups contain; all by default. */
  backupCondition?: string;
}

/** The columns with the keys of stored objects. Backups and removals of locations find the objects by them. */
export const objectColumns: ObjectColumn[] = [
  {
    ...{ service: "till-ingest", table: "till_versions", column: "object_key", hash: "hash" },
    condition: "body_removed_at is null",
  },
  { service: "reporting", table: "packed_tills", column: "object_key", hash: "hash", condition: "true" },
  {
    ...{ service: "reporting", table: "export_files", column: "object_key", hash: "sha256" },
    condition: "object_key is not null",
    // Those of accounting exports. The files of bulk exports can be created again, and are deleted within days.
    backupCondition: "till_ids is null",
  },
];

/** Their keys are in a column above, too, or belong to no till: a task of reporting deletes `unused_objects`. */
const otherObjectColumns = new Set(["till-ingest.tills.object_key", "reporting.unused_objects.object_key"]);

/** The location itself is removed last, so that its name confirms the removal again after an interruption. */
export const removalSequence: readonly ServiceName[] = [
  ...serviceNames.filter((name) => name !== "accounts"),
  "accounts",
];

/**
 * Yields the keys of a location's objects. The search path must be the schema of the service.
 *
 * @throws `Error` that names columns with keys of objects that are not in the list.
 */
export async function* listLocationObjects(
  sql: postgres.Sql,
  { service, locationId }: { service: ServiceName; locationId: string },
): AsyncGenerator<string> {
  const columns = objectColumns.filter((column) => column.service === service);
  const existing = await sql<{ name: string }[]>`
    select relname || '.' || attname as name from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      and attname like '%object_key' and not attisdropped`;
  const known = new Set(columns.map(({ table, column }) => `${table}.${column}`));
  const unknown = existing.find(({ name }) => !known.has(name) && !otherObjectColumns.has(`${service}.${name}`));
  if (unknown) throw new Error(`It is not decided whether ${service}.${unknown.name} names objects of a location.`);
  for (const { table, column, condition } of columns) {
    const exception = exceptions[service]?.[table];
    const locationCondition = exception && "condition" in exception ? exception.condition : "location_id = $1";
    const rows = sql
      .unsafe<{ key: string }[]>(
        `select distinct "${column}" as key from "${table}" where ${condition} and (${locationCondition})`,
        [locationId],
      )
      .cursor(objectListRows);
    for await (const batch of rows) for (const { key } of batch) yield key;
  }
}

const objectListRows = 500;

/**
 * Returns the tables that can contain rows of a location, so that none is forgotten, each after those to which it refers.
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
    const exception = exceptions[service]?.[name] ?? exceptions["*"]?.[name];
    if (exception && "reason" in exception) continue;
    if (hasLocation) locationTables.push({ condition: "location_id = $1", ...exception, name });
    else if (!exception) undecided.push(`${service}.${name}`);
    else locationTables.push({ name, ...exception });
  }
  if (undecided.length > 0)
    throw new Error(
      `It is not decided which rows of ${undecided.join(", ")} belong to a location. Add the tables to location-tables.ts.`,
    );
  return sortByReferences(sql, schema, locationTables);
}

/** Returns the numbers of rows as `service.table`. The search path must be the schema of the service. */
export async function countLocationRows(
  sql: postgres.Sql,
  service: { name: ServiceName; schema: string },
  locationId: string,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name, condition } of await listLocationTables(sql, service)) {
    const [row] = await sql.unsafe<{ count: number }[]>(
      `select count(*)::int as count from "${name}" where ${condition}`,
      [locationId],
    );
    if (row && row.count > 0) counts[`${service.name}.${name}`] = row.count;
  }
  return counts;
}

async function sortByReferences(sql: postgres.Sql, schema: string, tables: LocationTable[]): Promise<LocationTable[]> {
  const references = await sql<{ from: string; to: string }[]>`
    select distinct t.relname as from, f.relname as to
    from pg_constraint join pg_class t on t.oid = conrelid join pg_class f on f.oid = confrelid
    where contype = 'f' and t.relnamespace = to_regnamespace(${schema}) and conrelid <> confrelid
      and not t.relispartition and not f.relispartition
    order by 1, 2`;
  const sorted = new Set<LocationTable>();
  const add = (table: LocationTable) => {
    for (const { from, to } of references) {
      const referenced = from === table.name ? tables.find(({ name }) => name === to) : undefined;
      if (referenced && !sorted.has(referenced)) add(referenced);
    }
    sorted.add(table);
  };
  for (const table of tables) add(table);
  return [...sorted];
}
