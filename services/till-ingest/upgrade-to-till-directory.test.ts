import { randomUUID } from "node:crypto";
import { partitionTables } from "@pragma/runtime/database/partitioning/partition-tables";
import type { Database, SqlTransaction } from "@pragma/runtime/database/postgres";
import { operatorCommandAuditSource } from "@pragma/runtime/messaging/audit-events";
import { type CompressingObjectStore, createObjectStore } from "@pragma/runtime/object-store/object-store";
import { createLogger } from "@pragma/runtime/observability/logger";
import { runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import { createPreviousDatabaseSchema } from "@pragma/runtime/testing/previous-schema";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tillIngestServiceConfigSchema } from "./config.ts";
import { eraseTillPersonalData } from "./erase-till.ts";
import { backfillTillLocationsTask } from "./periodic/backfill-till-locations.ts";
import { findBulkTillReprocessing, listNextTillsToReprocess } from "./queries/reprocessings.ts";
import { findTillLocationId } from "./queries/till-directory.ts";
import { listTillPartitionSuffixes } from "./queries/till-partitions.ts";
import { findTillRow } from "./queries/tills.ts";
import { removeTillObjectIfUnreferenced } from "./remove-unreferenced-object.ts";
import { requestTillReprocessing } from "./reprocess-tills.ts";
import { storePushedTill } from "./store-pushed-till.ts";
import { buildTestTill } from "./testing/till-fixtures.ts";

const existingTills = 10_500;
const requeueAfterSeconds = 300;
const log = createLogger({ name: "test", level: "silent" });
const config = tillIngestServiceConfigSchema.parse({ OBJECT_STORE: "file:/unused" });

let environment: IsolatedTestEnvironment;
let db: Database;
let objects: CompressingObjectStore;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  objects = createObjectStore(environment.variables.OBJECT_STORE ?? "");
  const previous = await createPreviousDatabaseSchema(environment, { _runtime: 9, "till-ingest": 10 });
  db = previous.db;
  await db.sql`
    with locations as (select array_agg(gen_random_uuid()) as ids from generate_series(1, 50))
    insert into tills (id, location_id, application, format, revision, is_training, hash, object_key, size, time_zone)
    select gen_random_uuid(), ids[1 + number % 50], 'POPINA', 'V2', 1, false, '', '', 0, 'UTC'
    from locations, generate_series(1, ${existingTills}) as number`;
  await db.sql`
    insert into till_versions (till_id, revision, reason, format, hash, object_key, size, key_id, consumer)
    select id, 1, 'push', 'V2', '', 'tills/' || location_id || '/00/' || id, 0, ${randomUUID()}, 'test' from tills`;
  await previous.migrate();
});
afterAll(async () => {
  await objects.close();
  await db.close();
  await environment.remove();
});

interface TestTillRow {
  id: string;
  locationId: string;
  objectKey: string;
}

/** Inserts a till and its revision with the statements of the previous version. Returns whether the till is new. */
async function insertAsPreviousVersion(tx: SqlTransaction, { id, locationId, objectKey }: TestTillRow) {
  const revision = { revision: 1, format: "V2", hash: "0".repeat(64), objectKey, size: 2 };
  const inserted = await tx`
    insert into tills ${tx({
      ...{ id, locationId, application: "POPINA", isTraining: false, timeZone: "UTC", ...revision },
    })}
    on conflict (id) do nothing returning id`;
  if (inserted.length === 0) return false;
  await tx`
    insert into till_versions ${tx({ tillId: id, reason: "push", keyId: randomUUID(), consumer: "test", ...revision })}`;
  return true;
}

const buildTillRow = (fields: Partial<TestTillRow> = {}): TestTillRow => {
  const [id, locationId] = [randomUUID(), randomUUID()];
  return { id, locationId, objectKey: `tills/${fields.locationId ?? locationId}/00/${id}`, ...fields };
};

/** Removes the till from the directory and the location from its revision, as after an upgrade. */
async function forgetLocation(id: string): Promise<void> {
  await db.sql`delete from till_directory where till_id = ${id}`;
  await db.sql`update till_versions set location_id = null where till_id = ${id}`;
}

/** Inserts a till that neither the migration nor the periodic task has processed yet. */
async function insertExistingTill(fields: Partial<TestTillRow> = {}): Promise<TestTillRow> {
  const row = buildTillRow(fields);
  await db.transaction((tx) => insertAsPreviousVersion(tx, row));
  await forgetLocation(row.id);
  return row;
}

/** Pushes a till with the new version, and returns "stored" or the code of the error. */
async function push(id: string, locationId: string): Promise<string> {
  const bytes = Buffer.from(JSON.stringify(buildTestTill({ id })));
  const location = { id: locationId, application: "POPINA" as const, legacyId: null, timeZone: "UTC" };
  const metadata = { format: "V2" as const, tillId: id, isTraining: false, orderCount: 1, device: undefined };
  return runWithObservabilityContext({}, (context) =>
    storePushedTill(
      { db, objects, config, requeueAfterSeconds },
      {
        location,
        till: { metadata, currencies: [], warnings: [], bytes, hash: randomUUID().replaceAll("-", "").repeat(2) },
        principal: buildTestPrincipal({ location }),
        context,
      },
    ).then(
      () => "stored",
      (error: { code?: string }) => error.code ?? String(error),
    ),
  );
}

const locationOfRevision = async (id: string) =>
  (await db.sql`select location_id from till_versions where till_id = ${id}`)[0]?.locationId;

describe("after an upgrade, before the existing tills have been processed", () => {
  it("keeps the tables with rows, and leaves many tills to the periodic task", async () => {
    expect(await listTillPartitionSuffixes(db.sql)).toEqual([""]);
    expect(await db.sql`select 1 from till_directory`).toHaveLength(0);
  });

  it("records the location of tills that the previous version inserts", async () => {
    const row = buildTillRow();
    expect(await db.transaction((tx) => insertAsPreviousVersion(tx, row))).toBe(true);
    expect(await db.sql`select location_id from till_directory where till_id = ${row.id}`).toEqual([
      { locationId: row.locationId },
    ]);
    expect(await locationOfRevision(row.id)).toBe(row.locationId);
    expect(await db.transaction((tx) => insertAsPreviousVersion(tx, row))).toBe(false);
  });

  it("finds an existing till by its id, and rejects its id in another location in both versions", async () => {
    const existing = await insertExistingTill();
    expect(await findTillLocationId(db, existing.id)).toBe(existing.locationId);
    expect(await push(existing.id, randomUUID())).toBe("till_conflict");
    const other = buildTillRow({ id: existing.id });
    expect(await db.transaction((tx) => insertAsPreviousVersion(tx, other))).toBe(false);
    expect(await findTillLocationId(db, existing.id)).toBe(existing.locationId);
  });

  it("gives an id to one location when both versions push it at the same time", async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = randomUUID();
      const rows = [buildTillRow({ id }), buildTillRow({ id })];
      const [previous, next] = rows.map(({ locationId }) => locationId) as [string, string];
      const results = await Promise.all([
        db.transaction((tx) => insertAsPreviousVersion(tx, rows[0] as TestTillRow)),
        push(id, next),
      ]);
      const owner = await findTillLocationId(db, id);
      expect(results).toEqual(owner === previous ? [true, "till_conflict"] : [false, "stored"]);
      expect(await db.sql`select location_id from tills where id = ${id}`).toEqual([{ locationId: owner }]);
    }
  });

  it("keeps an object to which only a revision without a location refers", async () => {
    const { objectKey } = await insertExistingTill();
    await objects.put(objectKey, Buffer.from("{}"));
    await db.sql`
      insert into pending_uploads (key, created_at) values (${objectKey}, now() - interval '25 hours')`;
    expect(await removeTillObjectIfUnreferenced({ db, objects }, objectKey)).toBe(false);
    expect(Buffer.from(await objects.get(objectKey)).toString()).toBe("{}");
  });

  it("erases personal data in a revision without a location", async () => {
    const existing = await insertExistingTill();
    await objects.put(existing.objectKey, Buffer.from('{"firebaseCustomerName":"Ada Lovelace"}'));
    await eraseTillPersonalData(
      { db, objects, config, requeueAfterSeconds },
      { locationId: existing.locationId, tillId: existing.id, orderIds: null, traceparent: undefined },
    );
    expect(
      await db.sql`
      select revision, body_removed_at is not null as is_removed from till_versions
      where location_id = ${existing.locationId} and till_id = ${existing.id} order by revision`,
    ).toEqual([
      { revision: 1, isRemoved: true },
      { revision: 2, isRemoved: false },
    ]);
    expect(await findTillRow(db.sql, existing)).toMatchObject({ revision: 2, pushedHash: "0".repeat(64) });
  });

  it("reprocesses the tills of all locations in the sequence that the previous version uses", async () => {
    const id = randomUUID();
    await db.sql`
      insert into till_reprocessings (id, lte_report_version, key_id, consumer, total)
      values (${id}, 1, ${id}, 'test', 0)`;
    const row = await findBulkTillReprocessing(db.sql, id);
    if (!row) throw new Error("The reprocessing was not found.");
    const next = (lastTillId: string | null) =>
      db.transaction((tx) => listNextTillsToReprocess(tx, { ...row, lastTillId }, 10));
    const [first, second] = [await next(null), await next((await next(null)).tills.at(-1)?.id ?? "")];
    const ids = [...first.tills, ...second.tills].map((till) => till.id);
    expect([ids, first.partition]).toEqual([[...new Set(ids)].sort(), null]);
    expect(ids).toHaveLength(20);
  });

  it("refuses to partition the tables", async () => {
    await expect(partitionTables(db, { onStep() {} })).rejects.toThrow("has not finished setting the location");
  });

  it("processes the existing tills in batches, in one instance at a time", async () => {
    await Promise.all(Array.from({ length: 3 }, () => backfillTillLocationsTask.run({ db, log })));
    expect(
      await db.sql`
      select 1 from tills left join till_directory on till_id = id
      where till_directory.location_id is distinct from tills.location_id`,
    ).toEqual([]);
    expect(
      await db.sql`
      select 1 from till_versions join tills on id = till_id
      where till_versions.location_id is distinct from tills.location_id`,
    ).toEqual([]);
    expect(await db.sql`select finished_at is not null as is_finished from till_location_backfill`).toEqual([
      { isFinished: true },
    ]);
    expect((await db.sql`select 1 from till_directory`).length).toBeGreaterThan(existingTills);
  });
});

describe("after the existing tills have been processed", () => {
  const revisionOf = async (key: TestTillRow) => (await findTillRow(db.sql, key))?.revision;

  it("partitions the tables while tills are pushed and reprocessed, and loses none", async () => {
    const [{ total }] = await db.sql<[{ total: number }]>`select count(*) as total from tills`;
    const pushed: TestTillRow[] = [];
    let isPartitioned = false;
    async function pushUntilPartitioned() {
      while (!isPartitioned) {
        const row = buildTillRow();
        expect(await push(row.id, row.locationId)).toBe("stored");
        const author = { keyId: randomUUID(), consumer: "test" };
        const locations = { getById: async () => ({ timeZone: "Europe/Paris" }) } as unknown as LocationLookupClient;
        await runWithObservabilityContext({}, (context) =>
          requestTillReprocessing(
            { db, locations, requeueAfterSeconds, quotas: null },
            { id: row.id, locationId: null, author, audit: operatorCommandAuditSource, context },
          ),
        );
        pushed.push(row);
      }
    }
    const pushes = Promise.all([pushUntilPartitioned(), pushUntilPartitioned()]);
    expect(await partitionTables(db, { onStep() {} })).toEqual(["tills", "till_versions"]);
    isPartitioned = true;
    await pushes;
    expect(await listTillPartitionSuffixes(db.sql)).toHaveLength(32);
    expect(await db.sql`select count(*) as total from tills`).toEqual([{ total: total + pushed.length }]);
    expect(await Promise.all(pushed.map(revisionOf))).toEqual(pushed.map(() => 2));
    expect(pushed.length).toBeGreaterThan(0);
    expect(
      await db.sql`
      select 1 from tills join till_directory on till_id = id and till_directory.location_id = tills.location_id
    `,
    ).toHaveLength(total + pushed.length);
    const [first] = pushed as [TestTillRow];
    expect(await push(first.id, randomUUID())).toBe("till_conflict");
  }, 90_000);
});
