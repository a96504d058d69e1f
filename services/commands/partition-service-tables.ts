import { parseArgs } from "node:util";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import type { EnvironmentVariables } from "@pragma/runtime/config/renamed-variables";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { databaseAndBrokerTlsConfigSchema } from "@pragma/runtime/config/server-tls";
import { readServiceDatabaseUrls } from "@pragma/runtime/config/service-databases";
import { dropReplacedTables, partitionTables } from "@pragma/runtime/database/partitioning/partition-tables";
import { createDatabasePool } from "@pragma/runtime/database/postgres";
import { operatorCommandAuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { z } from "zod";
import { OpsCommandLineUsageError } from "./operator-commands.ts";

const partitionConfig = z.object({
  ...commonServiceConfigSchema.pick({ NAMESPACE: true }).shape,
  ...databaseAndBrokerTlsConfigSchema.shape,
});

/**
 * Partitions the tables of all services, or of the named services, by location. Connects to the database of each service
 * as the role that owns the tables. With `--drop-old`, deletes the tables that were replaced instead. Writes progress to
 * `log`.
 *
 * @returns the names of the replaced or deleted tables by service.
 * @throws `OpsCommandLineUsageError` when the command line is invalid; `ConfigError` when a service has no database.
 */
export async function partitionServiceTables(
  commandLine: string[],
  { environment, log }: { environment: EnvironmentVariables; log: (line: string) => void },
): Promise<Record<string, string[]>> {
  const { services, isDropping } = parseCommandLine(commandLine);
  const config = readConfigFromEnvironment(partitionConfig, environment);
  const urls = readServiceDatabaseUrls(environment, services);
  const tablesByService: Record<string, string[]> = {};
  for (const service of services) {
    const schema = buildServiceSchemaName(config.NAMESPACE, service);
    const db = createDatabasePool(
      // One connection holds the lock of the run, and the other does the work.
      { ...config, DATABASE_URL: urls[service].owner, DATABASE_POOL: 2 },
      { schema, log: createLogger({ name: "partition-tables", level: "warn" }), hasLongStatements: true },
    );
    try {
      const tables = isDropping
        ? await dropReplacedTables(db)
        : await partitionTables(db, {
            onStep: ({ step, table, rowCount }) =>
              log([service, table, step, rowCount].filter((part) => part !== undefined).join(" ")),
          });
      tablesByService[service] = tables;
      // Partitioning takes many transactions, so the entry follows the last one.
      if (tables.length > 0) {
        await db.transaction((tx) =>
          publishAuditEvent(tx, operatorCommandAuditSource, {
            ...{ action: "tables.partitioned", locationId: null, target: { type: "service", id: service } },
            details: { tables, isDropping },
          }),
        );
      }
    } finally {
      await db.close();
    }
  }
  return tablesByService;
}

function parseCommandLine(commandLine: string[]): { services: readonly ServiceName[]; isDropping: boolean } {
  try {
    const { values, positionals } = parseArgs({
      args: commandLine,
      allowPositionals: true,
      options: { "drop-old": { type: "boolean", default: false } },
    });
    const services = z.array(z.enum(serviceNames)).parse(positionals);
    return { services: services.length === 0 ? serviceNames : services, isDropping: values["drop-old"] };
  } catch (error) {
    throw new OpsCommandLineUsageError(error instanceof z.ZodError ? z.prettifyError(error) : String(error));
  }
}
