import { createHash, type Hash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import type { ReadableStream } from "node:stream/web";
import type { EnvironmentVariables } from "@pragma/runtime/config/renamed-variables";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { createObjectStore, ObjectNotFoundError } from "@pragma/runtime/object-store/object-store";
import { createEncryption, type Encryption } from "@pragma/runtime/security/encryption";
import { z } from "zod";
import { readBackupConfig } from "./backup-and-restore.ts";
import { computeBodyHash } from "./copy-till-bodies.ts";
import { type DatabaseSnapshot, withDatabaseSnapshots } from "./database-snapshots.ts";
import { InvalidArchiveError, readLocationArchive, writeLocationArchive } from "./location-archive.ts";
import { listLocationTables } from "./location-tables.ts";

const archiveConfigSchema = z.object({ LOCATION_ARCHIVE_KEY: z.string().min(32) });
const exportConfigSchema = archiveConfigSchema.extend(commonServiceConfigSchema.pick({ DATA_KEYS: true }).shape);

/** The description of an archive, which is its last line. */
const archiveManifest = z.object({
  locationId: z.guid(),
  startedAt: z.iso.datetime(),
  /** The latest migration of each service. */
  migrations: z.record(z.string(), z.string()),
  /** The number of lines of each table and of the bodies, and the SHA-256 of these lines. */
  parts: z.record(z.string(), z.object({ count: z.int().min(1), sha256: z.string() })),
  /** The keys of bodies that were removed during the export, or do not have their hash. The archive lacks them. */
  missingObjects: z.array(z.string()),
});
type ArchiveManifest = z.infer<typeof archiveManifest>;

const manifestPart = "manifest";
const objectPart = "objects";

/** Tables whose rows mean something only in the installation that wrote them. */
const omittedTables = new Set(["outbox", "dead_letters", "location_writes", "daily_usage"]);

/** The columns that are encrypted with DATA_KEYS. The archive has their text, because it is encrypted itself. */
const encryptedColumns: Record<string, string[]> = {
  "webhooks.signing_secrets": ["encrypted_secret"],
  "webhooks.recipients": ["encrypted_api_key", "sealed_api_key"],
};

const minProgressIntervalMs = 2_000;
const cursorRows = 200;

interface ExportOptions {
  locationId: string;
  file: string;
  environment: EnvironmentVariables;
  log: (line: string) => void;
}

/**
 * Writes all data of a location to an encrypted archive: the rows of all services, all of the same moment, and the
 * bodies of its tills. Each line of the archive is the name of a part, a space, and JSON.
 *
 * @throws `ConfigError` and `Error` when the location does not exist.
 */
export async function exportLocation({ locationId, file, environment, log }: ExportOptions): Promise<ArchiveManifest> {
  const config = readBackupConfig(environment);
  const { LOCATION_ARCHIVE_KEY, DATA_KEYS } = readConfigFromEnvironment(exportConfigSchema, environment);
  const encryption = createEncryption(DATA_KEYS);
  const manifest: ArchiveManifest = {
    ...{ locationId, startedAt: new Date().toISOString(), migrations: {}, parts: {}, missingObjects: [] },
  };
  const hashes = new Map<string, { count: number; hash: Hash }>();
  let loggedAt = performance.now();
  const toLine = (part: string, json: string) => {
    const line = addToPart(hashes, part, json);
    if (performance.now() - loggedAt > minProgressIntervalMs) {
      log(`${part} ${hashes.get(part)?.count}`);
      loggedAt = performance.now();
    }
    return line;
  };
  await withDatabaseSnapshots(config.databases, config, async (snapshots) => {
    async function* writeLines() {
      for (const snapshot of snapshots) yield* writeRows(snapshot);
      if (!hashes.has("accounts.locations")) throw new Error(`The location ${locationId} does not exist.`);
      for (const snapshot of snapshots) yield* writeBodies(snapshot);
      manifest.parts = summarizeParts(hashes);
      yield `${manifestPart} ${JSON.stringify(manifest)}\n`;
    }

    async function* writeRows({ sql, services }: DatabaseSnapshot) {
      for (const service of services) {
        await sql`select set_config('search_path', ${service.schema}, true)`;
        const [latest] = await sql<{ name: string }[]>`select name from migrations order by name desc limit 1`;
        manifest.migrations[service.name] = latest?.name ?? "";
        for (const { name, condition } of await listLocationTables(sql, service)) {
          if (omittedTables.has(name) || /_(un)?partitioned$/.test(name)) continue;
          const part = `${service.name}.${name}`;
          const rows = sql
            .unsafe<{ row: string }[]>(`select to_jsonb(t)::text as row from "${name}" t where ${condition}`, [
              locationId,
            ])
            .cursor(cursorRows);
          for await (const batch of rows) {
            for (const { row } of batch) yield toLine(part, decryptColumns(row, encryptedColumns[part], encryption));
          }
        }
      }
    }

    async function* writeBodies({ sql, services }: DatabaseSnapshot) {
      const tillIngest = services.find(({ name }) => name === "till-ingest");
      if (!tillIngest) return;
      const store = createObjectStore(config.OBJECT_STORE);
      try {
        const versions = sql<{ key: string; hash: string }[]>`
          select object_key as key, min(hash) as hash from ${sql(tillIngest.schema)}.till_versions
          where body_removed_at is null
            and till_id in (select id from ${sql(tillIngest.schema)}.tills where location_id = ${locationId})
          group by object_key`.cursor(cursorRows);
        for await (const batch of versions) {
          for (const { key, hash } of batch) {
            const stored = await readStoredBody(store, key, hash);
            if (stored) yield toLine(objectPart, JSON.stringify({ key, hash, stored: stored.toString("base64") }));
            else manifest.missingObjects.push(key);
          }
        }
      } finally {
        await store.close();
      }
    }

    await writeLocationArchive(file, LOCATION_ARCHIVE_KEY, writeLines());
  });
  return manifest;
}

/**
 * Reads an archive completely, and returns its manifest.
 *
 * @throws `InvalidArchiveError` when it is damaged or incomplete, and `ConfigError`.
 */
export async function verifyLocationArchive(file: string, environment: EnvironmentVariables): Promise<ArchiveManifest> {
  const { LOCATION_ARCHIVE_KEY } = readConfigFromEnvironment(archiveConfigSchema, environment);
  const hashes = new Map<string, { count: number; hash: Hash }>();
  let manifestJson: string | undefined;
  for await (const line of readLocationArchive(file, LOCATION_ARCHIVE_KEY)) {
    const end = line.indexOf(" ");
    const [part, json] = [line.slice(0, end), line.slice(end + 1)];
    if (part === manifestPart) manifestJson = json;
    else addToPart(hashes, part, json);
  }
  if (manifestJson === undefined) throw new InvalidArchiveError("The archive has no manifest.");
  const manifest = archiveManifest.parse(JSON.parse(manifestJson));
  const found = summarizeParts(hashes);
  for (const part of new Set([...Object.keys(found), ...Object.keys(manifest.parts)])) {
    if (found[part]?.sha256 !== manifest.parts[part]?.sha256 || found[part]?.count !== manifest.parts[part]?.count)
      throw new InvalidArchiveError(`The part ${part} of the archive does not match its manifest.`);
  }
  return manifest;
}

function addToPart(hashes: Map<string, { count: number; hash: Hash }>, part: string, json: string): string {
  const entry = hashes.get(part) ?? { count: 0, hash: createHash("sha256") };
  hashes.set(part, entry);
  entry.count += 1;
  const line = `${part} ${json}\n`;
  entry.hash.update(line);
  return line;
}

const summarizeParts = (hashes: Map<string, { count: number; hash: Hash }>) =>
  Object.fromEntries(
    [...hashes].map(([part, { count, hash }]) => [part, { count, sha256: hash.copy().digest("hex") }]),
  );

function decryptColumns(row: string, columns: string[] | undefined, encryption: Encryption): string {
  if (!columns) return row;
  const values = JSON.parse(row);
  for (const column of columns) if (values[column]) values[column] = encryption.decrypt(values[column]);
  return JSON.stringify(values);
}

/** Returns a body as it is stored, or undefined if it no longer exists or does not have its hash. */
async function readStoredBody(
  store: ReturnType<typeof createObjectStore>,
  key: string,
  hash: string,
): Promise<Buffer | undefined> {
  try {
    const { body, encoding } = await store.streamStored(key);
    const stored = await buffer(body as ReadableStream<Uint8Array>);
    return (await computeBodyHash(stored, encoding)) === hash ? stored : undefined;
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return undefined;
    throw error;
  }
}
