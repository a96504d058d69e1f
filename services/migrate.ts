/**
 * Makes everything that services run on which may make nothing themselves, and ends: `node services/dist/migrate.js`, with
 * SERVICE for one of them only.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { ConfigError, type Environment, readConfig, runtimeConfig } from "@pragma/runtime/config";
import { openEventBus } from "@pragma/runtime/event-bus";
import { createLogger, type Logger } from "@pragma/runtime/logger";
import { prepareSchema } from "@pragma/runtime/migrate";
import { openDatabase } from "@pragma/runtime/postgres";
import { serverTlsConfig } from "@pragma/runtime/server-tls";
import { schemaOf } from "@pragma/runtime/start-service";
import { z } from "zod";
import { grantSchema } from "./database-role.ts";
import { definitionOf } from "./definitions.ts";

/** `till-ingest` logs in with TILL_INGEST_DATABASE_URL. */
const urlVariable = (service: ServiceName) => `${service.toUpperCase().replaceAll("-", "_")}_DATABASE_URL`;

const migrateConfig = z.object({
  ...runtimeConfig.pick({
    ...{ DATABASE_URL: true, NATS_URL: true, NAMESPACE: true },
    ...{ STREAM_REPLICAS: true, EVENT_STREAM_MAX_BYTES: true },
  }).shape,
  ...serverTlsConfig.shape,
});
const roleUrls = z.object(
  Object.fromEntries(serviceNames.map((name) => [urlVariable(name), runtimeConfig.shape.DATABASE_URL.optional()])),
);

/**
 * Makes what services run on that may make nothing themselves (MIGRATE=off): the tables of every service, or of the one
 * given, as the role of DATABASE_URL, which owns them; the role that a service logs in with, where
 * `<SERVICE>_DATABASE_URL` names one; and the event stream. Done again, it does what is new.
 *
 * @throws `ConfigError` naming every fault of the environment.
 */
async function migrateAll(
  environment: Environment,
  { only, log }: { only: ServiceName | undefined; log: Logger },
): Promise<void> {
  const config = readConfig(migrateConfig, environment);
  const urls = readConfig(roleUrls, environment);
  for (const name of only === undefined ? serviceNames : [only]) {
    const schema = schemaOf(config.NAMESPACE, name);
    const db = openDatabase({ ...config, DATABASE_POOL: 3 }, { schema, log });
    try {
      await prepareSchema(db, { module: (await definitionOf(name)).module, mayMigrate: true, log });
      const url = urls[urlVariable(name)];
      if (url !== undefined) await grantSchema(db, { url, tls: config, log });
    } finally {
      await db.close();
    }
    log.info({ schema }, "the schema is up to date");
  }
  const bus = openEventBus(config, { name: "migrate", log });
  try {
    await Promise.race([bus.ensureStream(), failAfter(60_000, "NATS was not reached within a minute.")]);
    log.info({ stream: bus.stream }, "the event stream is up to date");
  } finally {
    await bus.close();
  }
}

async function failAfter(milliseconds: number, message: string): Promise<never> {
  await sleep(milliseconds, undefined, { ref: false });
  throw new Error(message);
}

const log = createLogger({ name: "migrate", level: "info" });
try {
  const { SERVICE: only } = readConfig(z.object({ SERVICE: z.enum(serviceNames).optional() }), process.env);
  await migrateAll(process.env, { only, log });
} catch (error) {
  if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
  else log.fatal({ err: error }, "could not migrate");
  process.exitCode = 1;
}
