import { randomUUID } from "node:crypto";
import type { Database } from "@pragma/runtime/database/postgres";
import { createPreviousDatabaseSchema, deletePreviousVersionRows } from "@pragma/runtime/testing/previous-schema";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let environment: IsolatedTestEnvironment;
let db: Database;
const dueAt = new Date("2026-01-01");
const laterAt = new Date("2026-01-02");
const pending = randomUUID();
const finished = randomUUID();
const reprocessing = randomUUID();

const insertTill = (id: string, columns: Record<string, unknown>) => db.sql`
  insert into tills ${db.sql({
    ...{ id, locationId: randomUUID(), application: "POPINA", format: "V2", revision: 1, isTraining: false },
    ...{ hash: "", objectKey: "", size: 0, timeZone: "UTC", ...columns },
  })}`;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const previous = await createPreviousDatabaseSchema(environment, { _runtime: 6, "till-ingest": 6 });
  db = previous.db;
  await db.sql`insert into object_intents (key, removing_since) values ('earlier', ${dueAt})`;
  await db.sql`
    insert into reprocessings (id, lte_report_version, key_id, consumer, total, done, place)
    values (${reprocessing}, 1, ${randomUUID()}, 'c', 10, 4, ${pending})`;
  await insertTill(pending, { nextSweepAt: dueAt, sweeps: 2 });
  await insertTill(finished, { nextSweepAt: null, sweeps: 3 });
  await previous.migrate();
});
afterAll(async () => {
  await db.close();
  await environment.remove();
});

describe("pending_uploads, formerly object_intents", () => {
  const recordPrevious = (key: string) => db.sql`
    insert into object_intents ${db.sql({ key })}
    on conflict (key) do update set created_at = now() where object_intents.removing_since is null`;

  it("has the rows from before the migration", async () => {
    expect(await db.sql`select key, removal_claimed_at from pending_uploads where key = 'earlier'`).toEqual([
      { key: "earlier", removalClaimedAt: dueAt },
    ]);
  });

  it("is written and claimed under both names", async () => {
    expect((await recordPrevious("new")).count).toBe(1);
    expect((await recordPrevious("new")).count).toBe(1);
    await db.sql`update pending_uploads set removal_claimed_at = ${dueAt} where key = 'new'`;
    expect((await recordPrevious("new")).count).toBe(0);
    const [claim] = await db.sql`
      update object_intents set removing_since = ${laterAt}
      from (
        select key, removing_since is not null as is_taken_over from object_intents
        where key = 'new' and removing_since < now() - interval '30 minutes' for update
      ) before
      where object_intents.key = before.key
      returning before.key, removing_since, is_taken_over`;
    expect(claim).toEqual({ key: "new", removingSince: laterAt, isTakenOver: true });
    expect(await db.sql`select removal_claimed_at from pending_uploads where key = 'new'`).toEqual([
      { removalClaimedAt: laterAt },
    ]);
    await db.sql`delete from object_intents where key = 'new'`;
    expect(await db.sql`select 1 from pending_uploads where key = 'new'`).toEqual([]);
  });
});

describe("till_reprocessings, formerly reprocessings", () => {
  const lockPrevious = () => db.sql`
    select * from reprocessings where finished_at is null order by done, created_at limit 1 for update skip locked`;

  it("continues a reprocessing from before the migration under both names", async () => {
    expect(await db.sql`select requeued_count, last_till_id from till_reprocessings`).toEqual([
      { requeuedCount: 4, lastTillId: pending },
    ]);
    await db.sql`update till_reprocessings set requeued_count = 5, last_till_id = ${finished}`;
    expect(await lockPrevious()).toEqual([
      expect.objectContaining({ id: reprocessing, done: 5, place: finished, total: 10 }),
    ]);
    await db.sql`update reprocessings set done = done + 1, place = ${pending} where id = ${reprocessing}`;
    expect(await db.sql`select requeued_count, last_till_id from till_reprocessings`).toEqual([
      { requeuedCount: 6, lastTillId: pending },
    ]);
  });

  it("is locked for one version at a time", async () => {
    await db.sql.begin(async (tx) => {
      await tx`select 1 from till_reprocessings for update`;
      expect(await lockPrevious()).toEqual([]);
    });
  });

  it("is inserted and deleted under the former name", async () => {
    const id = randomUUID();
    const [inserted] = await db.sql`
      insert into reprocessings ${db.sql({ id, lteReportVersion: 1, keyId: id, consumer: "c", total: 1 })} returning *`;
    expect(inserted).toMatchObject({ done: 0, place: null, createdAt: expect.any(Date) });
    await deletePreviousVersionRows(db.sql, "reprocessings", db.sql`id = ${id}`);
    expect(await db.sql`select 1 from till_reprocessings where id = ${id}`).toEqual([]);
  });
});

describe("next_requeue_at and requeue_count of a till, formerly next_sweep_at and sweeps", () => {
  const previousColumns = async (id: string) =>
    (await db.sql`select next_sweep_at, sweeps from tills where id = ${id}`)[0];
  const newColumns = async (id: string) =>
    (await db.sql`select next_requeue_at, requeue_count from tills where id = ${id}`)[0];

  it("are filled for tills that wait for a report", async () => {
    expect(await newColumns(pending)).toEqual({ nextRequeueAt: dueAt, requeueCount: 2 });
    expect(await newColumns(finished)).toMatchObject({ nextRequeueAt: null });
  });

  it.each([
    ["previous", { nextSweepAt: dueAt, sweeps: 0 }],
    ["new", { nextRequeueAt: dueAt, requeueCount: 0 }],
    ["previous", { nextSweepAt: dueAt, sweeps: 2 }],
    ["new", { nextRequeueAt: dueAt, requeueCount: 2 }],
    ["previous", { nextSweepAt: null, sweeps: 0 }],
    ["new", { nextRequeueAt: null, requeueCount: 0 }],
  ])("have the values that the %s version inserts: %o", async (_, columns) => {
    const id = randomUUID();
    await insertTill(id, columns);
    const [at, count] = Object.values(columns);
    expect(await previousColumns(id)).toEqual({ nextSweepAt: at, sweeps: count });
    expect(await newColumns(id)).toEqual({ nextRequeueAt: at, requeueCount: count });
  });

  it.each(["pending", "finished"])("have the values of the last update of a %s till, by any version", async (state) => {
    const id = state === "pending" ? pending : finished;
    await db.sql`update tills set next_requeue_at = ${laterAt}, requeue_count = 0 where id = ${id}`;
    expect(await previousColumns(id)).toEqual({ nextSweepAt: laterAt, sweeps: 0 });
    await db.sql`update tills set next_sweep_at = ${dueAt}, sweeps = sweeps + 1 where id = ${id}`;
    expect(await newColumns(id)).toEqual({ nextRequeueAt: dueAt, requeueCount: 1 });
    await db.sql`update tills set requeue_count = requeue_count + 1 where id = ${id}`;
    expect(await previousColumns(id)).toEqual({ nextSweepAt: dueAt, sweeps: 2 });
    await db.sql`update tills set next_sweep_at = null where id = ${id}`;
    expect(await newColumns(id)).toEqual({ nextRequeueAt: null, requeueCount: 2 });
    await db.sql`update tills set next_sweep_at = ${dueAt}, sweeps = 0 where id = ${id}`;
    expect(await newColumns(id)).toEqual({ nextRequeueAt: dueAt, requeueCount: 0 });
    await db.sql`update tills set next_requeue_at = null where id = ${id}`;
    expect(await previousColumns(id)).toEqual({ nextSweepAt: null, sweeps: 0 });
  });
});
