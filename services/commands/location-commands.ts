import { parseArgs } from "node:util";
import type { EnvironmentVariables } from "@pragma/runtime/config/renamed-variables";
import { z } from "zod";
import { readBackupConfig } from "./backup-and-restore.ts";
import { withDatabaseSnapshots } from "./database-snapshots.ts";
import { exportLocation } from "./export-location.ts";
import { importLocation } from "./import-location.ts";
import { verifyLocationArchive } from "./location-manifest.ts";
import { listLocationTables } from "./location-tables.ts";
import { OpsCommandLineUsageError } from "./operator-commands.ts";
import { removeLocation } from "./remove-location.ts";

const locationVerbs = ["count", "export", "verify", "import", "remove"];

/**
 * Runs a command of `npm run ops -- location`, and returns the result to print. Writes progress to `log`.
 *
 * @throws `OpsCommandLineUsageError` when the command line is invalid.
 */
export async function runLocationCommand(
  commandLine: string[],
  { environment, log }: { environment: EnvironmentVariables; log: (line: string) => void },
): Promise<unknown> {
  const { verb, argument = "", output, confirmation, others } = parseCommandLine(commandLine);
  if (verb === "verify" && argument && others.length === 0) return verifyLocationArchive(argument, environment);
  if (verb === "import" && argument && others.length === 0) return importLocation({ file: argument, environment, log });
  const locationId = z.guid().safeParse(argument).data;
  if (verb === "remove" && locationId && others.length === 0)
    return removeLocation({ locationId, confirmation, environment, log });
  if ((verb !== "count" && verb !== "export") || !locationId || others.length > 0)
    throw new OpsCommandLineUsageError(
      verb !== undefined && locationVerbs.includes(verb)
        ? "location count, location export and location remove need the id of a location. location verify and location import need a file."
        : `Unknown command: ${["location", verb].join(" ").trim()}.`,
    );
  if (verb === "count") return countLocationRows(locationId, environment);
  return exportLocation({ locationId, file: output ?? `${locationId}.archive`, environment, log });
}

function parseCommandLine(commandLine: string[]) {
  try {
    const { positionals, values } = parseArgs({
      args: commandLine,
      allowPositionals: true,
      options: { output: { type: "string" }, yes: { type: "string" } },
    });
    const [verb, argument, ...others] = positionals;
    return { verb, argument, others, output: values.output, confirmation: values.yes };
  } catch (error) {
    throw new OpsCommandLineUsageError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Returns the number of rows that each table of each service has of a location, all of the same moment. Tables without
 * such rows are left out. Reads the databases like a backup.
 */
async function countLocationRows(
  locationId: string,
  environment: EnvironmentVariables,
): Promise<Record<string, number>> {
  const config = readBackupConfig(environment);
  return withDatabaseSnapshots(config.databases, config, async (snapshots) => {
    const counts: Record<string, number> = {};
    for (const { sql, services } of snapshots) {
      for (const service of services) {
        // Conditions name other tables of the same service.
        await sql`select set_config('search_path', ${service.schema}, true)`;
        for (const { name, condition } of await listLocationTables(sql, service)) {
          const [row] = await sql.unsafe<{ count: number }[]>(
            `select count(*)::int as count from "${name}" where ${condition}`,
            [locationId],
          );
          if (row && row.count > 0) counts[`${service.name}.${name}`] = row.count;
        }
      }
    }
    return counts;
  });
}
