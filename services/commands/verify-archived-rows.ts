import type { ArchivedTable } from "./archived-tables.ts";
import { InvalidArchiveError } from "./location-archive.ts";
import {
  type ArchiveLine,
  type ArchiveManifest,
  findInvalidEncryptedColumn,
  manifestPart,
  objectPart,
  parseArchivedJson,
} from "./location-manifest.ts";
import { importSequence } from "./location-tables.ts";
import { computeFingerprint, createObjectVerifier } from "./verify-archived-objects.ts";

type Row = Record<string, unknown>;

const sequence: readonly string[] = [objectPart, ...importSequence];

/** The tables with rows of the location that can lack its id: consumers of operators, and revisions of version 1.0. */
const tablesWithNullLocation = new Set(["accounts.consumers", "till-ingest.till_versions"]);

interface Verification {
  lines: AsyncIterable<ArchiveLine>;
  manifest: ArchiveManifest;
  /** The tables of this installation, by part of the archive. */
  tables: Map<string, ArchivedTable>;
}

/**
 * Reads the lines of an archive whose manifest has been verified, and checks that it contains rows and objects of one location only,
 * and all rows and objects to which these refer. Whoever has the key of an archive could have changed it. Returns the rows
 * of consumers as JSON.
 *
 * @throws `InvalidArchiveError`
 */
export async function verifyArchiveContent({
  lines,
  manifest,
  tables,
}: Verification): Promise<{ consumerRows: string[] }> {
  const objects = createObjectVerifier(manifest);
  const rows = createRowVerifier(manifest, tables);
  const consumerRows: string[] = [];
  let previousService: string = objectPart;
  for await (const { part, json } of lines) {
    if (part === manifestPart) break;
    const table = tables.get(part);
    if (!table && part !== objectPart)
      throw new InvalidArchiveError(`The archive has a part that no archive contains: ${part}.`);
    const service = table?.service ?? objectPart;
    if (sequence.indexOf(service) < sequence.indexOf(previousService))
      throw new InvalidArchiveError(`The part ${part} of the archive is not in its place.`);
    previousService = service;
    if (!table) await objects.addObject(json);
    else {
      const row = parseArchivedJson(part, json);
      rows.verifyRow(part, row, table);
      objects.verifyRow(part, row);
      if (part === "accounts.consumers") consumerRows.push(json);
    }
  }
  rows.finish();
  objects.finish();
  return { consumerRows };
}

function createRowVerifier({ locationId }: ArchiveManifest, tables: Map<string, ArchivedTable>) {
  /** The keys to which rows can refer: of each table, and of each list of columns. */
  const referenceTargets = new Map<string, { part: string; columns: string[]; ids: Set<string> }>();
  const toTargetName = (part: string, columns: string[]) => `${part} ${columns.join(" ")}`;
  for (const { service, references } of tables.values())
    for (const { to, toColumns: columns } of references) {
      const part = `${service}.${to}`;
      referenceTargets.set(toTargetName(part, columns), { part, columns, ids: new Set() });
    }
  const targetsOfPart = (part: string) => [...referenceTargets.values()].filter((target) => target.part === part);
  /** The consumers of operators that no key has used so far. */
  const unusedConsumers = new Set<string>();
  let locationCount = 0;

  function requireColumns(part: string, row: Row, { columns, requiredColumns }: ArchivedTable): void {
    const unknown = Object.keys(row).find((name) => !columns.includes(name));
    if (unknown !== undefined)
      throw new InvalidArchiveError(`A row of ${part} in the archive has an unknown column: ${unknown}.`);
    const missing =
      columns.find((name) => row[name] === undefined) ??
      requiredColumns.find(
        (name) => row[name] === null && !(name === "location_id" && tablesWithNullLocation.has(part)),
      );
    if (missing !== undefined) throw new InvalidArchiveError(`A row of ${part} in the archive lacks ${missing}.`);
    const invalid = findInvalidEncryptedColumn(part, row);
    if (invalid !== undefined)
      throw new InvalidArchiveError(`A row of ${part} in the archive has no text in ${invalid}.`);
  }

  function requireLocation(part: string, row: Row, { columns, references }: ArchivedTable): void {
    const [hasColumn, isLocation] = [columns.includes("location_id"), part === "accounts.locations"];
    if (!hasColumn && !isLocation) {
      if (references.length > 0) return;
      throw new Error(
        `It is not decided to which location the rows of ${part} belong. Add the table to location-tables.ts.`,
      );
    }
    const rowLocationId = isLocation ? row.id : row.location_id;
    if (rowLocationId === locationId || (rowLocationId === null && tablesWithNullLocation.has(part))) return;
    throw new InvalidArchiveError(
      `A row of ${part} in the archive does not belong to the location ${locationId} (${rowLocationId ?? "no location"}).`,
    );
  }

  function requireReferences(part: string, row: Row, { service, references }: ArchivedTable): void {
    for (const { columns, to, toColumns } of references) {
      const values = columns.map((column) => row[column]);
      if (values.includes(null)) continue;
      const target = `${service}.${to}`;
      if (!referenceTargets.get(toTargetName(target, toColumns))?.ids.has(computeFingerprint(...values)))
        throw new InvalidArchiveError(`A row of ${part} in the archive refers to a row of ${target} that it lacks.`);
      if (part === "accounts.api_keys") unusedConsumers.delete(computeFingerprint(...values));
    }
  }

  return {
    /** Checks a row, whose references must be to earlier rows. @throws `InvalidArchiveError` */
    verifyRow(part: string, archived: Row, table: ArchivedTable): void {
      requireColumns(part, archived, table);
      requireLocation(part, archived, table);
      // A revision without a location gets the location when it is imported.
      const row = "location_id" in archived ? { ...archived, location_id: locationId } : archived;
      requireReferences(part, row, table);
      for (const { columns, ids } of targetsOfPart(part))
        ids.add(computeFingerprint(...columns.map((column) => row[column])));
      if (part === "accounts.consumers" && archived.location_id === null)
        unusedConsumers.add(computeFingerprint(row.id));
      if (part === "accounts.locations" && ++locationCount > 1)
        throw new InvalidArchiveError("The archive has several rows of accounts.locations.");
    },
    /** @throws `InvalidArchiveError` */
    finish(): void {
      if (locationCount === 0) throw new InvalidArchiveError("The archive has no row of accounts.locations.");
      if (unusedConsumers.size > 0)
        throw new InvalidArchiveError(
          `The archive has ${unusedConsumers.size} consumers of operators that none of its keys uses.`,
        );
    },
  };
}
