import { parseArgs } from "node:util";
import type { EnvironmentVariables } from "@pragma/runtime/config/renamed-variables";
import { z } from "zod";
import { readDataStoresConfig } from "./backup-and-restore.ts";
import { withDatabaseSnapshots } from "./database-snapshots.ts";
import { exportLocation } from "./export-location.ts";
import { importLocation } from "./import-location.ts";
import { verifyLocationArchive } from "./location-manifest.ts";
import { countLocationRows } from "./location-tables.ts";
import { OpsCommandLineUsageError } from "./operator-commands.ts";
import { removeLocation } from "./remove-location.ts";

const locationVerbs = ["count", "export", "verify", "import", "remove"];

interface CommandContext {
  environment: EnvironmentVariables;
  /** Writes progress. */
  log: (line: string) => void;
  /** Reports a failure although the command has a result. */
  reportFailure: (message: string) => void;
}

/**
 * Runs a command of `npm run ops -- location`, and returns the result to print.
 *
 * @throws `OpsCommandLineUsageError` when the command line is invalid.
 */
export async function runLocationCommand(commandLine: string[], context: CommandContext): Promise<unknown> {
  const { environment, log } = context;
  const { verb, argument = "", others, options } = parseCommandLine(commandLine);
  const isAllowedWithMissingObjects = options["allow-missing-objects"] ?? false;
  if (verb === "verify" && argument && others.length === 0)
    return verifyLocationArchive(argument, { environment, log });
  if (verb === "import" && argument && others.length === 0)
    return importLocation({
      ...{ file: argument, isAllowedWithMissingObjects, environment, log },
      allowedConsumers: options["allow-consumer"] ?? [],
    });
  const locationId = z.guid().toLowerCase().safeParse(argument).data;
  if (verb === "remove" && locationId && others.length === 0)
    return removeLocation({ locationId, confirmation: options.yes, environment, log });
  if ((verb !== "count" && verb !== "export") || !locationId || others.length > 0)
    throw new OpsCommandLineUsageError(
      verb !== undefined && locationVerbs.includes(verb)
        ? "location count, location export and location remove need the id of a location. location verify and location import need a file."
        : `Unknown command: ${["location", verb].join(" ").trim()}.`,
    );
  if (verb === "count") return countAllLocationRows(locationId, environment);
  const file = options.output ?? `${locationId}.archive`;
  const { manifest, refusal } = await exportLocation({
    locationId,
    file,
    isAllowedWithMissingObjects,
    environment,
    log,
  });
  if (manifest.missingObjects.length > 0)
    context.reportFailure(
      `Everything was exported to ${file}, except ${manifest.missingObjects.length} objects that are missing or damaged in the object store (missingObjects).`,
    );
  if (refusal !== undefined)
    context.reportFailure(
      `Everything was exported to ${file}, but no installation would import it. Do not remove the location. ${refusal}`,
    );
  return manifest;
}

function parseCommandLine(commandLine: string[]) {
  try {
    const { positionals, values: options } = parseArgs({
      args: commandLine,
      allowPositionals: true,
      options: {
        output: { type: "string" },
        yes: { type: "string" },
        "allow-consumer": { type: "string", multiple: true },
        "allow-missing-objects": { type: "boolean" },
      },
    });
    const [verb, argument, ...others] = positionals;
    return { verb, argument, others, options };
  } catch (error) {
    throw new OpsCommandLineUsageError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Returns the number of rows of a location in each table of each service, all of the same moment. Reads the databases
 * like a backup.
 *
 * @throws `Error` when the installation has never had the location.
 */
async function countAllLocationRows(
  locationId: string,
  environment: EnvironmentVariables,
): Promise<Record<string, number>> {
  const config = readDataStoresConfig(environment);
  return withDatabaseSnapshots(config.databases, config, async (snapshots) => {
    const counts: Record<string, number> = {};
    let isKnown = false;
    for (const { sql, services } of snapshots) {
      for (const service of services) {
        // Conditions name other tables of the same service.
        await sql`select set_config('search_path', ${service.schema}, true)`;
        const traces = await sql`
          select from removed_locations where location_id = ${locationId}
          union all select from location_imports where location_id = ${locationId}`;
        isKnown ||= traces.length > 0;
        Object.assign(counts, await countLocationRows(sql, service, locationId));
      }
    }
    if (!isKnown && Object.keys(counts).length === 0)
      throw new Error(`The location ${locationId} does not exist, and never has, in this installation.`);
    return counts;
  });
}
