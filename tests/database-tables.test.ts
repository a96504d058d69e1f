import { readFile } from "node:fs/promises";
import { serviceNames } from "@pragma/contracts/service-names";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { migrateSchema } from "@pragma/runtime/database/migrate";
import { createDatabasePool } from "@pragma/runtime/database/postgres";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { loadServiceDefinition } from "@pragma/services/definitions";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";

let environment: IsolatedTestEnvironment;
/** The tables of all services, as `service.table`. A partitioned table is one table. */
let tables: string[] = [];
/** The tables that have no location_id, or a unique key without it. */
const tablesWithoutLocationInKeys = new Set<string>();
/** Primary, unique and foreign keys whose first column is not location_id, as `service.table (columns)`. */
const keysWithoutLocationFirst: string[] = [];

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const config = readConfigFromEnvironment(commonServiceConfigSchema, environment.variables);
  const log = createLogger({ name: "test", level: "silent" });
  for (const name of serviceNames) {
    const db = createDatabasePool(config, { schema: buildServiceSchemaName(config.NAMESPACE, name), log });
    const { module } = await loadServiceDefinition(name);
    await migrateSchema(db, { module, canMigrate: true, log });
    const rows = await db.sql<{ name: string }[]>`
      select relname as name from pg_class
      where relnamespace = ${db.schema}::regnamespace and relkind in ('r', 'p') and not relispartition`;
    tables.push(...rows.map((row) => `${name}.${row.name}`));
    const others = await db.sql<{ name: string }[]>`
      select relname as name from pg_class c
      left join pg_attribute a on attrelid = c.oid and attname = 'location_id' and not attisdropped
      where relnamespace = ${db.schema}::regnamespace and relkind in ('r', 'p') and not relispartition
        and (a.attnum is null or exists (
          select from pg_index where indrelid = c.oid and indisunique and a.attnum <> all (indkey)))`;
    for (const row of others) tablesWithoutLocationInKeys.add(`${name}.${row.name}`);
    const keys = await db.sql<{ key: string }[]>`
      with key as (
        select indrelid as table_id, string_to_array(indkey::text, ' ')::int2[] as columns
        from pg_index where indisunique
        union
        select conrelid, conkey from pg_constraint where contype = 'f'
      )
      select distinct relname || ' (' || (
        select string_agg(coalesce(attname, 'expression'), ', ' order by position)
        from unnest(columns) with ordinality as part (number, position)
        left join pg_attribute on attrelid = c.oid and attnum = number and number > 0
      ) || ')' as key
      from key
      join pg_class c on c.oid = table_id
      left join pg_attribute first on attrelid = c.oid and attnum = columns[1]
      where relnamespace = ${db.schema}::regnamespace and relkind in ('r', 'p') and not relispartition
        and first.attname is distinct from 'location_id'`;
    keysWithoutLocationFirst.push(...keys.map(({ key }) => `${name}.${key}`));
    await db.close();
  }
  tables = tables.sort();
}, 300_000);
afterAll(() => environment.remove());

/** The keys that do not begin with location_id, by the reason. */
const keysOfOtherKinds: Record<string, string[]> = {
  "an event is found by its id, also one without a location": [
    ...["*.outbox (id)", "*.inbox (event_id, subscription)"],
    "*.sent_events (stream, stream_sequence, id, slot)",
    ...["*.dead_letters (event_id, subscription)", "*.event_attempts (event_id, subscription)"],
  ],
  "the owner begins with the location's id, or with none for API keys without a location": [
    "*.idempotent_requests (owner, key)",
  ],
  "the row describes the installation": ["*.migrations (name)", "*.replica_heartbeat (id)"],
  "the API key of a request is found by its hash, and a location by its legacy id, before the location is known": [
    ...["accounts.api_keys (hash)", "accounts.api_keys (id)", "accounts.locations (application, legacy_id)"],
  ],
  "id is the location": ["accounts.locations (id)"],
  "a consumer can have keys of several locations, and the names are unique in the installation": [
    ...["accounts.api_keys (consumer_id)", "accounts.consumers (id)", "accounts.consumers (name)"],
  ],
  "an entry can concern no single location": ["accounts.audit_events (id)"],
  "the directory answers which location has a till": ["till-ingest.till_directory (till_id)"],
  "a reprocessing can concern the tills of all locations": ["till-ingest.till_reprocessings (id)"],
  "a body is uploaded before a till refers to it": ["till-ingest.pending_uploads (key)"],
  "an export can contain tills of several locations": [
    // A file refers to its export.
    ...["reporting.exports (id)", "reporting.export_files (export_id)", "reporting.export_files (export_id, number)"],
  ],
  "the changes of all locations are in one sequence": [
    ...["webhooks.all_changes (type, position)", "webhooks.unsequenced_changes (id)"],
    "webhooks.all_changes_position (feed_id)",
  ],
  "all locations of a business are reported together": [
    ...[
      "reporting.e_declarants (siren)",
      "reporting.e_transmissions (siren, kind, period, number)",
      "reporting.e_transmissions (siren, id)",
    ],
    "reporting.e_published_states (siren, kind, period)",
  ],
  "sandboxes are few, begin without a location, and are found by the token of their inbox": [
    "sandboxes.sandboxes (id)",
    "sandboxes.sandboxes (inbox_token)",
  ],
  "clients choose the ids, which are unique in the installation": [
    "webhooks.recipients (id)",
    "webhooks.webhooks (id)",
  ],
};

it("begins every key with the location, except keys with a reason", () => {
  expect([...new Set(keysWithoutLocationFirst)].sort()).toEqual(
    expandServices(Object.values(keysOfOtherKinds).flat()).sort(),
  );
});

const readProjectFile = (path: string) => readFile(new URL(`../${path}`, import.meta.url), "utf8");

/** Returns the tables of each service, for tables that every service has. */
const expandServices = (names: string[]) =>
  names.flatMap((name) => (name.startsWith("*.") ? serviceNames.map((service) => name.replace("*", service)) : [name]));

/** Returns the tables in the list of the Citus script, optionally only those of one kind. */
async function readCitusTables(kind = "\\w+"): Promise<string[]> {
  const script = await readProjectFile("deploy/postgres/citus/distribute.sql");
  const placed = [...script.matchAll(new RegExp(`^  \\('(\\w+)', '(\\w+)', '${kind}'\\)[,;]`, "gm"))].map(
    ([, service = "", table]) => `${service.replace("_", "-")}.${table}`,
  );
  const common = [...script.matchAll(new RegExp(`^  \\('(\\w+)', '${kind}'\\),?$`, "gm"))].map(
    ([, table]) => `*.${table}`,
  );
  return [...placed, ...expandServices(common)].sort();
}

it("places every table of every service exactly once with Citus", async () => {
  expect(await readCitusTables()).toEqual(tables);
});

it("distributes only tables whose unique keys contain the location, as Citus requires", async () => {
  const distributed = await readCitusTables("distributed");
  expect(distributed).toContain("order-live.live_orders");
  expect(distributed.filter((table) => tablesWithoutLocationInKeys.has(table))).toEqual([]);
});

/** Returns the cells of the rows of the table "Retention" in docs/operations.md. */
async function readRetentionRows(): Promise<string[][]> {
  const text = await readProjectFile("docs/operations.md");
  const [section = ""] = text.split("### Retention\n")[1]?.split("\n### ") ?? [];
  const rows = section.split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(1).map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

it("documents for how long every table is kept", async () => {
  const documented = (await readRetentionRows()).flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([\w*-]+\.\w+)`/g)].map(([, name = ""]) => name),
  );
  expect(expandServices(documented).sort()).toEqual(tables);
});

it("documents a variable that the service reads, or a reason or fixed time", async () => {
  const variablesOf = async (service: string): Promise<string[]> => {
    if (service === "every service") return Object.keys(commonServiceConfigSchema.shape);
    const { config } = await loadServiceDefinition(z.enum(serviceNames).parse(service));
    return config instanceof z.ZodObject ? Object.keys(config.shape) : [];
  };
  for (const [data, , keptFor, setting = ""] of await readRetentionRows()) {
    if (setting === "none") {
      expect({ data, keptFor }).toEqual({ data, keptFor: expect.stringMatching(/because|until|minutes|hours|day/) });
      continue;
    }
    const [, variable = "", service = ""] = /^`(\w+)` \(([\w -]+)\)$/.exec(setting) ?? [];
    expect({ data, variables: await variablesOf(service) }).toEqual({
      data,
      variables: expect.arrayContaining([variable]),
    });
  }
});
