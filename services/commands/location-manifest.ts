import { createHash, type Hash } from "node:crypto";
import type { EnvironmentVariables } from "@pragma/runtime/config/renamed-variables";
import { readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { z } from "zod";
import { InvalidArchiveError, readLocationArchive } from "./location-archive.ts";
import { createProgressLog } from "./progress-log.ts";

/*
 * Each line of an archive is the name of a part, a space, and JSON. The parts are, in this sequence: the objects, the
 * tables of each service so that no row precedes a row to which it refers, and the manifest.
 */

export const locationArchiveKeySchema = z.object({ LOCATION_ARCHIVE_KEY: z.string().min(32) });

/** The description of an archive, which is its last line. */
const archiveManifest = z.object({
  locationId: z.guid().lowercase(),
  startedAt: z.iso.datetime(),
  /** The migrations of each service, sorted by name. */
  migrations: z.record(z.string(), z.array(z.string())),
  /** The number of lines of each table and of the objects, and the SHA-256 of these lines. */
  parts: z.record(z.string(), z.object({ count: z.int().min(1), sha256: z.string() })),
  /** The keys of objects that were removed during the export, or do not have their hash. The archive lacks them. */
  missingObjects: z.array(z.string()),
});
export type ArchiveManifest = z.infer<typeof archiveManifest>;

export const manifestPart = "manifest";
export const objectPart = "objects";

/** Tables whose rows mean something only in the installation that wrote them. No archive contains them. */
export const omittedTables: ReadonlySet<string> = new Set([
  ...["outbox", "sent_events", "dead_letters", "location_writes", "daily_usage", "unused_objects"],
  // Positions among the changes of all locations of this installation.
  ...["unsequenced_changes", "all_changes"],
  // The files can be created again, and are deleted within days.
  ...["bulk_exports", "bulk_export_files"],
  ...["request_counts_by_minute", "request_counts_by_day", "failed_requests"],
]);

/** The parts of an archive are fewer than this. */
const maxParts = 200;

/** The columns that are encrypted with DATA_KEYS. The archive has their text, because it is encrypted itself. */
const encryptedColumns: Record<string, string[]> = {
  "webhooks.signing_secrets": ["encrypted_secret"],
  "webhooks.recipients": ["encrypted_api_key", "sealed_api_key"],
};

/** Returns the name of an encrypted column of a table whose value in a row is neither text nor null. */
export const findInvalidEncryptedColumn = (part: string, row: Record<string, unknown>): string | undefined =>
  encryptedColumns[part]?.find((column) => row[column] != null && typeof row[column] !== "string");

/** Returns a row with other values of the encrypted columns of its table. */
export function mapEncryptedColumns(part: string, row: string, map: (text: string) => string): string {
  const columns = encryptedColumns[part];
  if (!columns) return row;
  const values = JSON.parse(row);
  for (const column of columns) if (values[column]) values[column] = map(values[column]);
  return JSON.stringify(values);
}

/** The number of lines of each part, and the hash of these lines. */
export type PartHashes = Map<string, { count: number; hash: Hash }>;

/** Counts a line of an archive, and returns it. */
export function addToPart(hashes: PartHashes, part: string, json: string): string {
  const entry = hashes.get(part) ?? { count: 0, hash: createHash("sha256") };
  hashes.set(part, entry);
  entry.count += 1;
  const line = `${part} ${json}\n`;
  entry.hash.update(line);
  return line;
}

export const summarizeParts = (hashes: PartHashes): ArchiveManifest["parts"] =>
  Object.fromEntries(
    [...hashes].map(([part, { count, hash }]) => [part, { count, sha256: hash.copy().digest("hex") }]),
  );

/** A line of an archive. */
export interface ArchiveLine {
  part: string;
  json: string;
}

/** Yields the lines of an archive and its manifest. @throws `InvalidArchiveError` */
export async function* readArchiveLines(file: string, key: string): AsyncGenerator<ArchiveLine> {
  for await (const line of readLocationArchive(file, key)) {
    const end = line.indexOf(" ");
    yield { part: line.slice(0, end), json: line.slice(end + 1) };
  }
}

/**
 * Reads an archive completely, and returns its manifest. Logs the progress.
 *
 * @throws `InvalidArchiveError` when it is damaged or incomplete, and `ConfigError`.
 */
export async function verifyLocationArchive(
  file: string,
  { environment, log }: { environment: EnvironmentVariables; log: (line: string) => void },
): Promise<ArchiveManifest> {
  const { LOCATION_ARCHIVE_KEY } = readConfigFromEnvironment(locationArchiveKeySchema, environment);
  return readVerifiedManifest(logReadLines(readArchiveLines(file, LOCATION_ARCHIVE_KEY), log));
}

/** Yields the lines of an archive, and logs how many lines of a part were read. */
export async function* logReadLines(
  lines: AsyncIterable<ArchiveLine>,
  log: (line: string) => void,
): AsyncGenerator<ArchiveLine> {
  const logProgress = createProgressLog(log);
  const counts: Record<string, number> = {};
  for await (const line of lines) {
    const count = (counts[line.part] ?? 0) + 1;
    counts[line.part] = count;
    logProgress(`verifying ${line.part}`, count);
    yield line;
  }
}

/** Reads all lines of an archive, and returns the manifest that matches them. @throws `InvalidArchiveError` */
export async function readVerifiedManifest(lines: AsyncIterable<ArchiveLine>): Promise<ArchiveManifest> {
  const hashes: PartHashes = new Map();
  let manifestJson: string | undefined;
  let previousPart: string | undefined;
  for await (const { part, json } of lines) {
    if (manifestJson !== undefined) throw new InvalidArchiveError("The archive continues after its manifest.");
    if (part === manifestPart) {
      manifestJson = json;
      continue;
    }
    if (part !== previousPart && (hashes.has(part) || hashes.size === maxParts))
      throw new InvalidArchiveError("The lines of the archive are not in the sequence of its parts.");
    previousPart = part;
    addToPart(hashes, part, json);
  }
  if (manifestJson === undefined) throw new InvalidArchiveError("The archive has no manifest.");
  const manifest = parseManifest(manifestJson);
  const found = summarizeParts(hashes);
  for (const part of new Set([...Object.keys(found), ...Object.keys(manifest.parts)])) {
    if (found[part]?.sha256 !== manifest.parts[part]?.sha256 || found[part]?.count !== manifest.parts[part]?.count)
      throw new InvalidArchiveError(`The part ${part} of the archive does not match its manifest.`);
  }
  return manifest;
}

function parseManifest(json: string): ArchiveManifest {
  const { data, error } = archiveManifest.safeParse(parseArchivedJson(manifestPart, json));
  if (data) return data;
  const fields = new Set(error.issues.map(({ path }) => String(path[0] ?? "")));
  throw new InvalidArchiveError(`The manifest of the archive is not valid: ${[...fields].join(", ")}.`);
}

/** Returns the object in a line of an archive. @throws `InvalidArchiveError` that names the part. */
export function parseArchivedJson(part: string, json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new InvalidArchiveError(`A line of ${part} in the archive is not JSON.`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new InvalidArchiveError(`A line of ${part} in the archive is not a JSON object.`);
  return value as Record<string, unknown>;
}
