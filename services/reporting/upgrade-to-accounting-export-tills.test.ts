import { randomUUID } from "node:crypto";
import type { Database, SqlTransaction } from "@pragma/runtime/database/postgres";
import { createPreviousDatabaseSchema } from "@pragma/runtime/testing/previous-schema";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  claimAccountingExports,
  deleteExpiredAccountingExports,
  findAccountingExport,
  findAccountingExportFileMetadata,
  findPlannedAccountingExportFiles,
  insertAccountingExportWithFiles,
  readAccountingExportFileChunk,
  storeAccountingExportResult,
} from "./queries/accounting-exports.ts";

const existingExports = 200;
const [firstLocationId, secondLocationId] = [randomUUID(), randomUUID()];
const tillIds = Array.from({ length: 3 }, () => randomUUID());

let environment: IsolatedTestEnvironment;
let db: Database;
let exportOfFormerVersion: string;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const previous = await createPreviousDatabaseSchema(environment, { _runtime: 9, reporting: 9 });
  db = previous.db;
  exportOfFormerVersion = await insertAsVersion10();
  for (let count = 1; count < existingExports; count += 1) await insertAsVersion10();

  // An export of version 1.0 is being inserted when the migration begins. It is not lost, and causes no deadlock.
  let migrated: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    const insertItems = await insertFilesAsVersion10(tx);
    migrated = previous.migrate();
    await waitUntilBlocked();
    await insertItems();
  });
  await migrated;
});
afterAll(async () => {
  await db.close();
  await environment.remove();
});

/** Waits until another session waits for a lock of this schema's tables. */
async function waitUntilBlocked(): Promise<void> {
  for (;;) {
    const waiting = await db.sql`
      select 1 from pg_locks where not granted and relation in (select oid from pg_class where relnamespace = ${db.schema}::regnamespace)`;
    if (waiting.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const items = [
  { position: 0, tillId: tillIds[0] as string, fileNumber: 1, locationId: firstLocationId },
  { position: 1, tillId: tillIds[1] as string, fileNumber: 2, locationId: secondLocationId },
  { position: 2, tillId: tillIds[2] as string, fileNumber: 1, locationId: firstLocationId },
];
const configId = randomUUID();
const files = [
  { number: 1, locationId: firstLocationId, configId, provider: "FULLL" as const, config: "{}" },
  { number: 2, locationId: secondLocationId, configId, provider: "FULLL" as const, config: "{}" },
];

/** Inserts an export of two locations and its files as version 1.0 does. Returns a function that inserts the items. */
async function insertFilesAsVersion10(tx: SqlTransaction, id: string = randomUUID()): Promise<() => Promise<string>> {
  const row = { id, locationId: null, keyId: randomUUID(), consumer: "test", state: "pending" };
  await tx`insert into accounting_exports ${tx(row)}`;
  await tx`insert into accounting_files ${tx(files.map((file) => ({ exportId: id, ...file })))}`;
  return async () => {
    await tx`
      insert into accounting_items ${tx(items.map(({ locationId: _, ...item }) => ({ exportId: id, ...item })))}`;
    return id;
  };
}

const insertAsVersion10 = () => db.transaction(async (tx) => (await insertFilesAsVersion10(tx))());

const findItemLocations = async (id: string) =>
  (await db.sql`select location_id from accounting_export_tills where export_id = ${id} order by position`).map(
    ({ locationId }) => locationId,
  );
const itemLocations = items.map(({ locationId }) => locationId);

async function insertAsThisVersion(locationId: string | null): Promise<string> {
  const id = randomUUID();
  const owner = { keyId: randomUUID(), consumer: "test", traceparent: "" };
  const isIncluded = (part: { locationId: string }) => locationId === null || part.locationId === locationId;
  await db.transaction((tx) =>
    insertAccountingExportWithFiles(tx, {
      ...{ id, locationId, ...owner },
      ...{ files: files.filter(isIncluded), items: items.filter(isIncluded) },
    }),
  );
  return id;
}

const content = Buffer.from("exported");

/** Stores the result of an export with this version, and expects to read it. */
async function completeAndRead(id: string, locationId: string | null): Promise<void> {
  await db.sql`update accounting_exports set claimed_until = now() + interval '1 hour' where state = 'pending' and id <> ${id}`;
  const [claim] = await claimAccountingExports(db.sql, { limit: 1, seconds: 60 });
  if (claim?.id !== id) throw new Error("Another export was claimed.");
  expect(claim.locationId).toBe(locationId);
  const planned = await findPlannedAccountingExportFiles(db.sql, claim);
  const included = items.filter((item) => planned.some((file) => file.locationId === item.locationId));
  expect(planned.flatMap(({ tills }) => tills.map(({ tillId }) => tillId)).sort()).toEqual(
    included.map(({ tillId }) => tillId).sort(),
  );
  const result = {
    state: "done" as const,
    items: included.map(({ position, ...item }) => ({
      ...{ position, locationId: item.locationId, state: "done" as const, failure: null },
    })),
    files: planned.map(({ number, ...file }) => ({
      ...{ number, locationId: file.locationId, name: "name", etag: "etag", entries: 1, content },
    })),
  };
  expect(await db.transaction((tx) => storeAccountingExportResult(tx, claim, result))).toBe(true);

  const stored = await findAccountingExport(db.sql, { id, locationId });
  expect(stored?.items).toEqual(included.map((item) => ({ ...item, state: "done", failure: null })));
  expect(stored?.files.map(({ size }) => size)).toEqual(planned.map(() => content.byteLength));
  for (const { number, locationId: fileLocationId } of planned) {
    const found = await findAccountingExportFileMetadata(db.sql, { exportId: id, number, locationId });
    expect(found?.file).toMatchObject({ locationId: fileLocationId, size: content.byteLength });
    const file = { locationId: fileLocationId, exportId: id, number, offset: 0 };
    expect(await readAccountingExportFileChunk(db.sql, file)).toEqual(content);
  }
}

describe("accounting exports of version 1.0", () => {
  it("have the locations of their files after the upgrade", async () => {
    expect(await findItemLocations(exportOfFormerVersion)).toEqual(itemLocations);
    const [row] = await db.sql`select count(*), count(distinct export_id) as exports from accounting_export_tills`;
    expect(row).toEqual({ count: (existingExports + 1) * items.length, exports: existingExports + 1 });
    await completeAndRead(exportOfFormerVersion, null);
  });

  it("get the locations of their files when an instance of version 1.0 inserts them after the upgrade", async () => {
    const id = await insertAsVersion10();
    expect(await findItemLocations(id)).toEqual(itemLocations);
    await completeAndRead(id, null);
  });
});

describe("accounting exports of this version", () => {
  it("are stored and read by location, or without it for several locations", async () => {
    await completeAndRead(await insertAsThisVersion(firstLocationId), firstLocationId);
    await completeAndRead(await insertAsThisVersion(null), null);
  });

  it("are not visible to another location", async () => {
    const id = await insertAsThisVersion(firstLocationId);
    const key = { exportId: id, number: 1, locationId: secondLocationId };
    expect(await findAccountingExportFileMetadata(db.sql, key)).toBeUndefined();
    expect(await findAccountingExport(db.sql, { id, locationId: secondLocationId })).toBeUndefined();
  });

  it("are read, completed and deleted by the statements of version 1.0", async () => {
    const id = await insertAsThisVersion(firstLocationId);
    await db.transaction(async (tx) => {
      const read = await tx`select * from accounting_items where export_id = ${id} order by position`;
      expect(read.map(({ tillId }) => tillId)).toEqual([tillIds[0], tillIds[2]]);
      await tx`update accounting_files set content = ${content}::bytea where export_id = ${id} and number = 1`;
      const updated = await tx`
        update accounting_items as item set state = 'done' where item.export_id = ${id} and item.position = 2`;
      expect(updated.count).toBe(1);
      for (const table of ["accounting_items", "accounting_files"])
        expect((await tx`delete from ${tx(table)} where export_id = any(${[id]}::uuid[])`).count).toBeGreaterThan(0);
      await tx`delete from accounting_exports where id = any(${[id]}::uuid[])`;
    });
    expect(await findAccountingExport(db.sql, { id, locationId: null })).toBeUndefined();
  });

  it("are deleted with their files and items after the retention", async () => {
    await db.sql`update accounting_exports set state = 'done', created_at = now() - interval '2 days'`;
    const recent = await insertAsThisVersion(secondLocationId);
    await deleteExpiredAccountingExports(db, 1);
    for (const table of ["accounting_export_tills", "accounting_files"])
      expect(await db.sql`select distinct export_id from ${db.sql(table)}`).toEqual([{ exportId: recent }]);
    expect(await db.sql`select id from accounting_exports`).toEqual([{ id: recent }]);
  });
});
