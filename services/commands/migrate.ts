/**
 * `node build/services/commands/migrate.js`: prepares the database and NATS for services that run with MIGRATE=off. Set
 * SERVICE to prepare the database for only one service. The event streams in NATS are always prepared for all services.
 */
import { serviceNames } from "@pragma/contracts/service-names";
import { runWithDeadline } from "@pragma/runtime/concurrency/run-with-deadline";
import type { EnvironmentVariables } from "@pragma/runtime/config/environment-variables";
import {
  ConfigError,
  commonServiceConfigSchema,
  readConfigFromEnvironment,
} from "@pragma/runtime/config/runtime-config";
import { serverTlsConfigSchema } from "@pragma/runtime/config/server-tls";
import { describeDatabase, readServiceDatabaseUrls } from "@pragma/runtime/config/service-databases";
import { migrateSchema } from "@pragma/runtime/database/migrate";
import { createDatabasePool } from "@pragma/runtime/database/postgres";
import { createEventBus } from "@pragma/runtime/messaging/event-bus";
import { eventStreamKinds } from "@pragma/runtime/messaging/event-streams";
import { createLogger, type Logger } from "@pragma/runtime/observability/logger";
import { UnusableServerError } from "@pragma/runtime/process/unusable-server-error";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { z } from "zod";
import { loadServiceDefinition } from "../definitions.ts";
import { findDatabaseUrlVariable } from "./backup-and-restore.ts";
import { ensureRoleWithSchemaPrivileges } from "./database-role.ts";

const migrateConfig = z.object({
  ...commonServiceConfigSchema.pick({
    ...{ NATS_URL: true, NAMESPACE: true },
    ...{ EVENT_STREAM_REPLICAS: true, ORDER_EVENT_STREAM_MAX_BYTES: true, TILL_EVENT_STREAM_MAX_BYTES: true },
  }).shape,
  ...serverTlsConfigSchema.shape,
  SERVICE: z.enum(serviceNames).optional(),
});

class MigrationError extends Error {}

/**
 * Migrates the tables of every service, or of the one in SERVICE, with the role that owns them. Creates or updates the
 * roles of services with a `<SERVICE>_DATABASE_URL`, and the event streams. Safe to run repeatedly.
 */
async function migrateAll(environment: EnvironmentVariables, log: Logger): Promise<void> {
  const config = readConfigFromEnvironment(migrateConfig, environment);
  const services = config.SERVICE === undefined ? serviceNames : [config.SERVICE];
  const urls = readServiceDatabaseUrls(environment, services);
  for (const name of services) {
    const schema = buildServiceSchemaName(config.NAMESPACE, name);
    const { owner, service: url } = urls[name];
    const db = createDatabasePool({ ...config, DATABASE_URL: owner, DATABASE_POOL: 3 }, { schema, log });
    try {
      const { module } = await loadServiceDefinition(name);
      await migrateSchema(db, { module, canMigrate: true, log });
      if (url !== undefined) await ensureRoleWithSchemaPrivileges(db, { url, tls: config, log });
    } catch (cause) {
      // Node.js reports one error for each address of a host, in an error without a message.
      const { code, message } = cause as Error & { code?: string };
      const variable = findDatabaseUrlVariable(environment, { name, url: owner });
      throw new MigrationError(
        `The schema ${schema} cannot be migrated in the database ${describeDatabase(owner)} with the URL in ${variable}: ${cause instanceof UnusableServerError ? cause.problem : message || code}`,
        { cause },
      );
    } finally {
      await db.close();
    }
    log.info({ schema }, "schema is up to date");
  }
  const bus = createEventBus(config, { name: "migrate", log });
  try {
    await runWithDeadline(() => bus.connected, {
      timeoutMs: 60_000,
      createError: () => new MigrationError("NATS could not be reached within a minute with the URL in NATS_URL."),
    });
    for (const kind of eventStreamKinds) {
      await bus.ensureStream(kind);
      log.info({ stream: bus.streams[kind] }, "event stream is up to date");
    }
  } finally {
    await bus.close();
  }
}

const log = createLogger({ name: "migrate", level: "info" });
try {
  await migrateAll(process.env, log);
} catch (error) {
  if (error instanceof ConfigError || error instanceof MigrationError || error instanceof UnusableServerError)
    process.stderr.write(`${error.message}\n`);
  else log.fatal({ err: error }, "migration failed");
  process.exitCode = 1;
}
