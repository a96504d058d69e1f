import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { getAllowedCallersOfService, serviceNames } from "@pragma/contracts/service-names";
import postgres from "postgres";
import { buildInternalKeysVariableName } from "../config/internal-keys.ts";
import { buildEventStreamNames, isMissingInJetStream } from "../messaging/event-streams.ts";
import { createMigratedTestDatabase, dropTestDatabase, withDatabase } from "./template-database.ts";

/** A namespace on real servers for one test file. It has its own schemas, subjects, streams and objects. */
export interface IsolatedTestEnvironment {
  namespace: string;
  /** The environment variables for processes that use this namespace. */
  variables: Record<string, string>;
  /** Deletes the schemas, the event streams and the objects of the namespace. */
  remove(): Promise<void>;
}

/**
 * Creates a test environment without tables. Services migrate their schemas when they start.
 *
 * @throws `Error` if a server's URL is not set. `npm test` sets these URLs.
 */
export async function createIsolatedTestEnvironment(
  overrides: Record<string, string> = {},
): Promise<IsolatedTestEnvironment> {
  const { namespace, variables, removeStreamsAndObjects } = await createNamespace(overrides);
  return {
    namespace,
    variables,
    async remove() {
      await Promise.all([dropSchemas(variables.DATABASE_URL, namespace), removeStreamsAndObjects()]);
    },
  };
}

/**
 * Creates a test environment in which the schemas of all services are already migrated, so that the product starts
 * quickly. The schemas are in a database of their own. Tests of migrations use `createIsolatedTestEnvironment`.
 *
 * @throws `Error` if a server's URL is not set. `npm test` sets these URLs.
 */
export async function createMigratedTestEnvironment(
  overrides: Record<string, string> = {},
): Promise<IsolatedTestEnvironment> {
  const { namespace, variables, removeStreamsAndObjects } = await createNamespace(overrides);
  const serverUrl = variables.DATABASE_URL;
  const replicaUrl = overrides.DATABASE_READ_URL;
  const url = await createMigratedTestDatabase(serverUrl, namespace);
  return {
    namespace,
    variables: {
      ...variables,
      DATABASE_URL: url,
      ...(replicaUrl && { DATABASE_READ_URL: withDatabase(replicaUrl, namespace) }),
    },
    async remove() {
      await Promise.all([dropTestDatabase(serverUrl, namespace), removeStreamsAndObjects()]);
    },
  };
}

/** Creates a namespace and the environment variables of its processes. */
async function createNamespace(overrides: Record<string, string>) {
  const namespace = `t${randomBytes(5).toString("hex")}`;
  const objects = await mkdtemp(join(tmpdir(), "pragma-objects-"));
  const variables = {
    DATABASE_URL: requireServerUrl("DATABASE_URL"),
    NATS_URL: requireServerUrl("NATS_URL"),
    REDIS_URL: requireServerUrl("REDIS_URL"),
    NAMESPACE: namespace,
    OBJECT_STORE: `file:${objects}`,
    ...createInternalKeys(),
    DATA_KEYS: `test:${"test-data-secret-".repeat(2)}`,
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? "silent",
    DATABASE_POOL: "5",
    // High limits, because all tests send requests from the same address.
    KEYLESS_REQUESTS_BURST: "10000000",
    KEY_LOOKUPS_BURST: "10000000",
    MAX_CONNECTIONS_PER_ADDRESS: "100000",
    // Small, because NATS reserves this amount of storage for each stream.
    TILL_EVENT_STREAM_MAX_BYTES: "500000000",
    ORDER_EVENT_STREAM_MAX_BYTES: "500000000",
    ...overrides,
  };
  return {
    namespace,
    variables,
    async removeStreamsAndObjects() {
      await deleteStreams(variables.NATS_URL, namespace);
      await rm(objects, { recursive: true, force: true });
    },
  };
}

/** Returns environment variables with a separate internal key for each pair of a caller and a service. */
function createInternalKeys(): Record<string, string> {
  return Object.fromEntries(
    serviceNames.flatMap((service) =>
      getAllowedCallersOfService(service).map((caller) => [
        buildInternalKeysVariableName(caller, service),
        `test:${`${caller}-to-${service}-`.repeat(4)}`,
      ]),
    ),
  );
}

function requireServerUrl(name: string): string {
  const url = process.env[name];
  if (!url) throw new Error(`${name} is not set: run the tests with \`npm test\`, which starts the required servers.`);
  return url;
}

async function dropSchemas(url: string, namespace: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const schemas = await sql<{ name: string }[]>`
    select nspname as name from pg_namespace where starts_with(nspname, ${`${namespace}_`})`;
  for (const { name } of schemas) await sql`drop schema ${sql(name)} cascade`;
  await sql.end();
}

async function deleteStreams(url: string, namespace: string): Promise<void> {
  const connection = await connect({ servers: url });
  const manager = await jetstreamManager(connection);
  for (const stream of Object.values(buildEventStreamNames(namespace)))
    await manager.streams.delete(stream).catch((error) => {
      if (!isMissingInJetStream(error)) throw error;
    });
  await connection.close();
}
