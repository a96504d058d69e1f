import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packTill } from "@pragma/reporting/packing/pack-till";
import { deleteUnusedObjectsTask } from "@pragma/reporting/periodic/delete-unused-objects";
import { createDatabasePool, type Database } from "@pragma/runtime/database/postgres";
import { type CompressingObjectStore, createObjectStore } from "@pragma/runtime/object-store/object-store";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { readDataStoresConfig, restoreDatabaseAndTillBackup } from "@pragma/services/commands/backup-and-restore";
import { writeLocationArchive } from "@pragma/services/commands/location-archive";
import { runLocationCommand } from "@pragma/services/commands/location-commands";
import {
  addToPart,
  type PartHashes,
  readArchiveLines,
  summarizeParts,
} from "@pragma/services/commands/location-manifest";
import { requireStorableRows } from "@pragma/services/commands/write-location-rows";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { getTestCommandProgram } from "./harness/command-program.ts";

type Row = Record<string, unknown>;

const archiveKey = "a key of an archive, of 32 characters or more";
const locationId = randomUUID();
const otherLocationId = randomUUID();
const consumerId = randomUUID();
const [tillId, keyId] = [randomUUID(), randomUUID()];
const log = createLogger({ name: "test", level: "silent" });
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const body = Buffer.from(JSON.stringify({ id: tillId }));
const bodyKey = `tills/${locationId}/${sha256(body).slice(0, 2)}/${sha256(body)}.br`;
const packedKey = `packed/${locationId}/${tillId}-${randomUUID()}`;

let folder: string;
/** The archive of the location, and a changed copy. */
let file: string;
let changedFile: string;
let environment: IsolatedTestEnvironment;
let variables: Record<string, string>;
let accounts: Database;
let tillIngest: Database;
let reporting: Database;
let objects: CompressingObjectStore;
/** The lines of the archive. */
const archivedLines: { part: string; json: string }[] = [];
/** What commands have reported as failures. */
const failures: string[] = [];

const location = (...commandLine: string[]) =>
  runLocationCommand(commandLine, {
    ...{ environment: variables, log() {} },
    reportFailure: (message) => failures.push(message),
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pragma-attacks-"));
  file = join(folder, "location.archive");
  changedFile = join(folder, "changed.archive");
  environment = await createIsolatedTestEnvironment();
  variables = { ...environment.variables, LOCATION_ARCHIVE_KEY: archiveKey };
  // Prepares the databases without starting the product.
  await promisify(execFile)(process.execPath, [getTestCommandProgram("migrate")], {
    env: { PATH: process.env.PATH, ...environment.variables },
  });
  const open = (service: string) =>
    createDatabasePool(
      { DATABASE_URL: variables.DATABASE_URL ?? "", DATABASE_POOL: 2 },
      { schema: `${environment.namespace}_${service}`, log },
    );
  [accounts, tillIngest, reporting] = [open("accounts"), open("till_ingest"), open("reporting")];
  objects = createObjectStore(variables.OBJECT_STORE ?? "");
  await storeLocation();
  await location("export", locationId, "--output", file);
  for await (const line of readArchiveLines(file, archiveKey)) archivedLines.push(line);
}, 120_000);
beforeEach(async () => {
  failures.length = 0;
  await deleteLocation();
});
afterAll(async () => {
  await Promise.all([accounts, tillIngest, reporting].map((db) => db?.close()));
  await objects?.close();
  await environment?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** Stores a location with a key, a till, its body, and a packed till. */
async function storeLocation(): Promise<void> {
  await objects.put(bodyKey, body);
  await objects.put(packedKey, body);
  const { sql } = accounts;
  await sql`insert into locations ${sql({
    ...{ id: locationId, application: "POPINA", organizationId: "1", agencyId: "1", options: sql.json({}) },
    ...{ settingsId: randomUUID(), settings: sql.json({ timezone: "Europe/Paris", locationName: "Chez Acme" }) },
  })}`;
  await sql`insert into consumers ${sql({ id: consumerId, name: "Acme", scopes: ["reports:read", "orders:read"] })}`;
  await sql`insert into api_keys ${sql({
    ...{ id: keyId, hash: sha256(Buffer.from(keyId)), prefix: "pragma_", consumerId, locationId },
    ...{ createdFrom: "request", madeFrom: "request" },
  })}`;
  const object = { hash: sha256(body), objectKey: bodyKey, size: body.byteLength, format: "V2", revision: 1 };
  await tillIngest.transaction(async (tx) => {
    await tx`insert into till_directory ${tx({ tillId, locationId })}`;
    await tx`insert into tills ${tx({
      ...{ ...object, id: tillId, locationId, application: "POPINA", isTraining: false, timeZone: "Europe/Paris" },
    })}`;
    await tx`insert into till_versions ${tx({
      ...{ ...object, tillId, locationId, reason: "push", keyId, consumer: "Acme" },
    })}`;
  });
  await reporting.sql`
    insert into packed_tills (location_id, till_id, object_key, hash, pushed_at, block_ends, block_first_positions)
    values (${locationId}, ${tillId}, ${packedKey}, ${sha256(body)}, now(), '{10}', '{0}')`;
}

async function deleteLocation(): Promise<void> {
  for (const table of ["packed_tills", "reports", "tills", "unused_objects"])
    await reporting.sql`delete from ${reporting.sql(table)}`;
  for (const table of ["till_versions", "tills", "till_directory"])
    await tillIngest.sql`delete from ${tillIngest.sql(table)}`;
  for (const table of ["api_keys", "consumers", "locations", "outbox"])
    await accounts.sql`delete from ${accounts.sql(table)}`;
  for (const schema of ["accounts", "catalog", "jobs", "order_live", "reporting", "till_ingest", "webhooks"])
    for (const table of ["location_imports", "removed_locations"])
      await accounts.sql`delete from ${accounts.sql(`${environment.namespace}_${schema}`)}.${accounts.sql(table)}`;
  await objects.delete(bodyKey);
  await objects.delete(packedKey);
}

/** Writes a changed copy of the archive, as somebody who has its key could. */
async function changeArchive(part: string, change: (row: Row) => Row | string): Promise<void> {
  const hashes: PartHashes = new Map();
  async function* writeLines() {
    for (const { part: linePart, json } of archivedLines) {
      if (linePart === "manifest")
        yield `manifest ${JSON.stringify({ ...JSON.parse(json), parts: summarizeParts(hashes) })}\n`;
      else if (linePart === part) {
        const changed = change(JSON.parse(json));
        yield addToPart(hashes, part, typeof changed === "string" ? changed : JSON.stringify(changed));
      } else yield addToPart(hashes, linePart, json);
    }
  }
  await writeLocationArchive(changedFile, archiveKey, writeLines());
}

const createConsumer = (consumer: { name: string; scopes: string[]; locationId?: string }) =>
  accounts.sql`insert into consumers ${accounts.sql({ id: randomUUID(), ...consumer })}`;

/** Begins to pack another till of the location, up to the upload of its object. */
async function startPacking() {
  const key = { locationId, tillId: randomUUID() };
  const { sql } = reporting;
  await sql`insert into tills ${sql({ ...key, revision: 1, pushedAt: new Date() })}`;
  await sql`insert into reports ${sql({
    ...{ ...key, id: randomUUID(), revision: 1, reportVersion: 1, day: "2026-04-01", startedAt: new Date() },
    ...{ createdAt: new Date(), updatedAt: new Date() },
    ...{ orderCount: 0, etag: "a", finalized: "{}", v2: "{}", v0: "{}", listItem: "{}" },
  })}`;
  const upload = new EventEmitter();
  const begun = once(upload, "begin");
  const ended = once(upload, "end");
  const slowObjects: CompressingObjectStore = {
    ...objects,
    async put(objectKey, bytes) {
      upload.emit("begin", objectKey);
      await ended;
      await objects.put(objectKey, bytes);
    },
  };
  const packed = packTill({ db: reporting, objects: slowObjects }, key);
  return {
    objectKey: String((await begun)[0]),
    finish() {
      upload.emit("end");
      return packed;
    },
  };
}

/** Expects that an import has stored nothing. */
async function expectNothingImported(): Promise<void> {
  const { sql } = accounts;
  const schema = sql(`${environment.namespace}_reporting`);
  const [stored] = await sql`
    select (select count(*) from locations) + (select count(*) from api_keys) + (select count(*) from location_imports)
      + (select count(*) from ${schema}.packed_tills) as rows`;
  expect(stored).toEqual({ rows: 0 });
  await expect(objects.get(bodyKey)).rejects.toThrow();
}

// Each command derives the key of the archive several times, which takes long on a busy machine.
const timeout = 90_000;

describe("npm run ops -- location import", { timeout }, () => {
  it("imports an unchanged archive, whose consumer exists with the same or fewer scopes", async () => {
    await createConsumer({ name: "Acme", scopes: ["reports:read"] });
    expect(await location("import", file)).toMatchObject({ consumers: [{ name: "Acme", isNew: false }] });
    expect(await accounts.sql`select location_id from api_keys`).toEqual([{ locationId }]);
    expect(`${await objects.get(bodyKey)}`).toBe(`${body}`);
  });

  it("stores nothing of an archive with a row or an object of another location", async () => {
    await changeArchive("till-ingest.till_versions", (row) => ({ ...row, location_id: otherLocationId }));
    await expect(location("import", changedFile)).rejects.toThrow(/till_versions in the archive does not belong/);
    const foreignKey = `packed/${otherLocationId}/a`;
    await changeArchive("reporting.packed_tills", (row) => ({ ...row, object_key: foreignKey }));
    await expect(location("import", changedFile)).rejects.toThrow(/not the location's/);
    await changeArchive("accounts.api_keys", (row) => ({ ...row, location_id: null }));
    await expect(location("import", changedFile)).rejects.toThrow(/api_keys in the archive does not belong/);
    await expectNothingImported();
  });

  it("stores nothing of an archive with a row that its table cannot store", async () => {
    await changeArchive("accounts.locations", (row) => ({ ...row, legacy_id: "9223372036854775807" }));
    await expect(location("import", changedFile)).rejects.toThrow(
      "The location in the archive is not valid: legacyId.",
    );
    await changeArchive("accounts.consumers", (row) => ({ ...row, scopes: "{admin}" }));
    await expect(location("import", changedFile)).rejects.toThrow("A consumer in the archive is not valid: scopes.");
    await expectNothingImported();
  });

  it("names the column or constraint because of which a row cannot be stored", async () => {
    const rows = archivedLines.map(({ part, json }) => ({ part, row: part === "objects" ? {} : JSON.parse(json) }));
    const requireStorable = async ({ sql }: Database, part: string, change: Row) => {
      const [service = "", table = ""] = part.split(".");
      const row = { ...rows.find((each) => each.part === part)?.row, ...change };
      await requireStorableRows(sql, { service, table, rows: [JSON.stringify(row)] });
    };
    const refused: [Database, string, Row, string][] = [
      [accounts, "accounts.api_keys", { hash: "none" }, "it does not conform to api_keys_hash_check"],
      [accounts, "accounts.locations", { settings: {} }, "it does not conform to time_zone"],
      [accounts, "accounts.locations", { created_at: "soon" }, "a value does not have the type of its column"],
      [tillIngest, "till-ingest.tills", { size: "large" }, "a value does not have the type of its column"],
      [
        reporting,
        "reporting.packed_tills",
        { content_version: "\u0000" },
        "a value does not have the type of its column",
      ],
    ];
    for (const [db, part, change, reason] of refused) {
      await requireStorable(db, part, {});
      await expect(requireStorable(db, part, change), part).rejects.toThrow(
        `A row of ${part} in the archive cannot be stored: ${reason}.`,
      );
    }
  });

  it("refuses a consumer that exists with wider scopes, unless the operator allows it", async () => {
    await createConsumer({ name: "Acme", scopes: ["reports:read", "tills:write"] });
    await expect(location("import", file)).rejects.toThrow(/consumer Acme .*: tills:write\. .*--allow-consumer 'Acme'/);
    await expect(location("import", file, "--allow-consumer", "Other")).rejects.toThrow(/consumer Acme/);
    await expectNothingImported();
    expect(await location("import", file, "--allow-consumer", "Acme")).toMatchObject({ consumers: [{ isNew: false }] });
  });

  it("refuses a consumer that is renamed to an operators' consumer with all scopes", async () => {
    await createConsumer({ name: "admin", scopes: ["admin"] });
    for (const scopes of [["reports:read"], ["admin"]]) {
      await changeArchive("accounts.consumers", (row) => ({ ...row, name: "admin", scopes }));
      await expect(location("import", changedFile), `${scopes}`).rejects.toThrow(/consumer admin exists .*: admin\./);
    }
    await expectNothingImported();
  });

  it("refuses a consumer with scopes for other locations that it does not have here", async () => {
    for (const scope of ["admin", "locations:any"]) {
      await changeArchive("accounts.consumers", (row) => ({ ...row, scopes: [scope] }));
      await expect(location("import", changedFile, "--allow-consumer", "Acme")).rejects.toThrow(
        `The consumer Acme of the archive has scopes that reach other locations: ${scope}.`,
      );
    }
    await createConsumer({ name: "Acme", scopes: ["reports:read"] });
    await expect(location("import", changedFile, "--allow-consumer", "Acme")).rejects.toThrow(/locations:any/);
    await expectNothingImported();
  });

  it("refuses the consumer of another location", async () => {
    await createConsumer({ name: "Acme", scopes: [], locationId: otherLocationId });
    await expect(location("import", file)).rejects.toThrow(/a consumer of a location has the name Acme/);
    await expectNothingImported();
  });

  it("refuses a consumer of the location with the name of another location's consumer", async () => {
    const names = { name: `${otherLocationId}:Acme`, display_name: "Acme", given_name: "Acme" };
    await changeArchive("accounts.consumers", (row) => ({ ...row, ...names, location_id: locationId }));
    await expect(location("import", changedFile)).rejects.toThrow(/has a name that is not the location's/);
    await expectNothingImported();
  });

  it("gives a consumer another id if its id is in use", async () => {
    const { sql } = accounts;
    await sql`insert into consumers ${sql({ id: consumerId, name: "Other", scopes: [] })}`;
    await location("import", file);
    const [key] = await sql`select name from consumers where id = (select consumer_id from api_keys)`;
    expect(key).toEqual({ name: "Acme" });
  });
});

describe("npm run ops -- location export", { timeout }, () => {
  beforeEach(storeLocation);

  it("reports missing objects as a failure, and the import needs the operator's consent", async () => {
    await objects.delete(packedKey);
    expect(await location("export", locationId, "--output", changedFile)).toMatchObject({
      missingObjects: [packedKey],
    });
    expect(failures).toEqual([expect.stringMatching(/except 1 objects that are missing or damaged/)]);
    await deleteLocation();
    await expect(location("import", changedFile)).rejects.toThrow(/lacks 1 objects .*--allow-missing-objects/);
    await expectNothingImported();
    await location("import", changedFile, "--allow-missing-objects");
  });

  it("ends with exit code 1 when objects are missing", async () => {
    await objects.delete(packedKey);
    const commandLine = ["location", "export", locationId, "--output", changedFile];
    const env = { PATH: process.env.PATH, ...variables };
    const failed = promisify(execFile)(process.execPath, [getTestCommandProgram("ops"), ...commandLine], { env });
    await expect(failed).rejects.toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining(`Everything was exported to ${changedFile}, except 1 objects`) },
      stdout: expect.stringContaining(packedKey),
    });
  });

  it("reports an archive that no installation would import as a failure", async () => {
    await tillIngest.sql`delete from till_directory`;
    await location("export", locationId, "--output", changedFile);
    expect(failures).toEqual([expect.stringMatching(/Do not remove the location\. A row of till-ingest\.tills/)]);
    await accounts.sql`update consumers set ${accounts.sql({ locationId, displayName: "Acme", scopes: ["admin"] })}`;
    await expect(location("export", locationId, "--output", changedFile)).rejects.toThrow(/Remove the scopes from it/);
  });

  it("refuses an object store without any object of the location", async () => {
    await objects.delete(packedKey);
    await objects.delete(bodyKey);
    const other = join(folder, "other.archive");
    await expect(location("export", locationId, "--output", other)).rejects.toThrow(
      /has none of the 2 objects of the location\. Check OBJECT_STORE/,
    );
    await expect(stat(other)).rejects.toThrow();
  });

  it("contains neither objects to delete, nor consumers of other locations, nor exports of several locations", async () => {
    await reporting.sql`insert into unused_objects values (${locationId}, ${`packed/${locationId}/old`}, now())`;
    const [exportId, row] = [randomUUID(), { keyId, consumer: "Acme", state: "done", attempt: 1 }];
    await reporting.sql`insert into accounting_exports ${reporting.sql({ ...row, id: exportId, locationId: null })}`;
    await reporting.sql`insert into accounting_files ${reporting.sql({
      ...{ exportId, number: 1, locationId, configId: randomUUID(), provider: "FEC", config: "{}" },
    })}`;
    const name = { name: `${otherLocationId}:Acme`, displayName: "Acme", givenName: "Acme" };
    await accounts.sql`update consumers set ${accounts.sql({ ...name, locationId: otherLocationId })}`;
    await location("export", locationId, "--output", changedFile);
    expect(failures).toEqual([]);
    for (const table of ["unused_objects", "accounting_files", "accounting_exports"])
      await reporting.sql`delete from ${reporting.sql(table)}`;
    await deleteLocation();
    await location("import", changedFile);
    expect(await accounts.sql`select name, display_name, location_id from consumers`).toEqual([
      { name: `${locationId}:Acme`, displayName: "Acme", locationId },
    ]);
    expect(await reporting.sql`select from unused_objects`).toEqual([]);
  });
});

describe("npm run ops -- location remove", { timeout }, () => {
  it("deletes the objects of unpacked tills, so that the location can be imported again", async () => {
    await storeLocation();
    await accounts.sql`delete from api_keys`;
    const unpackedKey = `packed/${locationId}/unpacked`;
    await objects.put(unpackedKey, body);
    await reporting.sql`
      insert into unused_objects values (${locationId}, ${unpackedKey}, now() + interval '1 day')`;
    const packing = await startPacking();
    const removing = location("remove", locationId, "--yes", "Chez Acme");
    removing.catch(() => {});
    // The removal waits until its events are sent, which only a running product does.
    await eventually("the events of the removal", async () => (await accounts.sql`delete from outbox`).count > 0);
    expect(await removing).toMatchObject({ objects: 3 });
    await expect(objects.get(unpackedKey)).rejects.toThrow();
    expect(await reporting.sql`select object_key from unused_objects`).toEqual([{ objectKey: packing.objectKey }]);
    await expect(location("import", file)).rejects.toThrow(/was being packed when the location was removed/);
    expect(await packing.finish()).toBe(false);
    expect(await objects.get(packing.objectKey)).toBeDefined();
    await reporting.sql`update unused_objects set delete_after = now() - interval '1 second'`;
    await deleteUnusedObjectsTask.run({ db: reporting, objects, log });
    await expect(objects.get(packing.objectKey)).rejects.toThrow();
    await location("import", file);
    expect(`${await objects.get(packedKey)}`).toBe(`${body}`);
  });

  it("keeps a body that was being uploaded and is imported again", async () => {
    const { sql } = tillIngest;
    await sql`insert into pending_uploads values (${bodyKey}, now() - interval '2 days', now())`;
    await expect(location("import", file)).rejects.toThrow(/is being deleted\. Run the import again in an hour/);
    await sql`update pending_uploads set removal_claimed_at = null`;
    await location("import", file);
    expect(await sql`select from pending_uploads where created_at < now() - interval '1 hour'`).toEqual([]);
  });
});

describe("the commands of operators", () => {
  it("name the folder or file that does not exist", async () => {
    await storeLocation();
    await expect(location("export", locationId, "--output", folder)).rejects.toThrow(
      `--output must name a file, but ${folder} is a folder.`,
    );
    await expect(location("export", locationId, "--output", join(folder, "none", "a"))).rejects.toThrow(
      `The folder ${join(folder, "none")} of --output does not exist.`,
    );
    await expect(location("import", join(folder, "none"))).rejects.toThrow(/^The file .*none does not exist\.$/);
    await expect(
      restoreDatabaseAndTillBackup(readDataStoresConfig(variables), { folder: join(folder, "none"), log: () => {} }),
    ).rejects.toThrow(`The folder ${join(folder, "none")} does not contain a backup`);
  });

  it("state that a location does not exist", async () => {
    const unknownId = randomUUID();
    await expect(location("count", unknownId)).rejects.toThrow(`The location ${unknownId} does not exist`);
  });

  it("name the variable of a database that cannot be reached", async () => {
    const reachable = variables;
    try {
      variables = { ...reachable, WEBHOOKS_DATABASE_URL: "postgres://user:secret@127.0.0.1:1/webhooks" };
      for (const commandLine of [
        ["count", locationId],
        ["import", file],
        ["remove", locationId, "--yes", locationId],
      ]) {
        const error = await location(...commandLine).catch((reason: Error) => reason.message);
        expect(error).toMatch(/^The database 127\.0\.0\.1:1\/webhooks cannot be reached with the URL in WEBHOOKS_/);
        expect(error).not.toContain("secret");
      }
    } finally {
      variables = reachable;
    }
  });
});
