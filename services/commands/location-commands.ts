import type { EnvironmentVariables } from "@pragma/runtime/config/environment-variables";
import { z } from "zod";
import { readDataStoresConfig } from "./backup-and-restore.ts";
import { withDatabaseSnapshots } from "./database-snapshots.ts";
import { countLocationRows } from "./location-tables.ts";
import { OpsCommandLineUsageError, parseOpsCommandLine } from "./operator-commands.ts";
import { type LocationCommandContext, removeLocation } from "./remove-location.ts";
import { removeEndedSandboxes } from "./remove-sandboxes.ts";

/** Runs a command of `npm run ops -- location`. @throws `OpsCommandLineUsageError` for an invalid command line. */
export async function runLocationCommand(commandLine: string[], context: LocationCommandContext) {
  const { positionals, values } = parseOpsCommandLine(commandLine);
  const [verb, argument, ...others] = positionals;
  if (verb !== "count" && verb !== "remove")
    throw new OpsCommandLineUsageError(`Unknown command: ${["location", verb].join(" ").trim()}.`);
  const locationId = z.guid().toLowerCase().safeParse(argument).data;
  if (!locationId || others.length > 0)
    throw new OpsCommandLineUsageError("location count and location remove need the id of a location.");
  if (verb === "count") return countAllLocationRows(locationId, context.environment);
  return removeLocation(locationId, values.yes, context);
}

/** Runs `npm run ops -- sandboxes remove`. @throws `OpsCommandLineUsageError` for an invalid command line. */
export async function runSandboxesCommand(commandLine: string[], context: LocationCommandContext) {
  if (commandLine.length !== 1 || commandLine[0] !== "remove")
    throw new OpsCommandLineUsageError(`Unknown command: ${["sandboxes", ...commandLine].join(" ")}.`);
  return removeEndedSandboxes(context);
}

/** Returns the numbers of rows by table, all of the same moment. @throws `Error` if the location never existed. */
async function countAllLocationRows(locationId: string, environment: EnvironmentVariables) {
  const config = readDataStoresConfig(environment);
  return withDatabaseSnapshots(config.databases, config, async (snapshots) => {
    const counts: Record<string, number> = {};
    let isKnown = false;
    for (const { sql, services } of snapshots) {
      for (const service of services) {
        // Conditions name other tables of the same service.
        await sql`select set_config('search_path', ${service.schema}, true)`;
        const removals = await sql`select from removed_locations where location_id = ${locationId}`;
        isKnown ||= removals.length > 0;
        Object.assign(counts, await countLocationRows(sql, service, locationId));
      }
    }
    if (!isKnown && Object.keys(counts).length === 0)
      throw new Error(`The location ${locationId} does not exist, and never has, in this installation.`);
    return counts;
  });
}
