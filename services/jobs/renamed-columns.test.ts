import { randomUUID } from "node:crypto";
import type { Database } from "@pragma/runtime/database/postgres";
import { createPreviousDatabaseSchema, deletePreviousVersionRows } from "@pragma/runtime/testing/previous-schema";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let environment: IsolatedTestEnvironment;
let db: Database;
const locationId = randomUUID();
const leaseEnd = new Date("2026-01-01");

/** The renamed columns of one job, by their former names. `currentColumns` contains the same values. */
const formerColumns = {
  heldUntil: leaseEnd,
  isPerformed: true,
  lastDue: 5,
  children: 2,
  position: -1.5,
  runOf: "parent",
};
const currentColumns = {
  ...{ leaseExpiresAt: leaseEnd, isWorkDone: true, lastDueMs: 5, totalChildren: 2 },
  ...{ sortPosition: -1.5, repeatingJobId: "parent" },
};

const insertJob = (table: string, id: string, columns: object) => db.sql`
  insert into ${db.sql(table)} ${db.sql({
    ...{ locationId, id, keyId: locationId, consumer: "c", message: "m", duration: 0, options: db.sql.json({}) },
    ...{ timestamp: 0, ...columns },
  })}`;
const findJob = async (table: string, id: string) =>
  (await db.sql`select * from ${db.sql(table)} where location_id = ${locationId} and id = ${id} for update`)[0];

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const previous = await createPreviousDatabaseSchema(environment, { _runtime: 6, jobs: 9 });
  db = previous.db;
  await insertJob("jobs", "earlier", formerColumns);
  await previous.migrate();
});
afterAll(async () => {
  await db.close();
  await environment.remove();
});

describe("location_jobs, formerly jobs", () => {
  it("has the rows from before the migration", async () => {
    expect(await findJob("location_jobs", "earlier")).toMatchObject(currentColumns);
    expect(await findJob("jobs", "earlier")).toMatchObject(formerColumns);
  });

  it("is inserted and updated under both names", async () => {
    await insertJob("jobs", "previous", formerColumns);
    await insertJob("location_jobs", "current", currentColumns);
    expect(await findJob("location_jobs", "previous")).toMatchObject(currentColumns);
    expect(await findJob("jobs", "current")).toMatchObject(formerColumns);

    const changes = { heldUntil: null, isPerformed: false, lastDue: 6, children: 3, position: 2.5 };
    const updated = await db.sql`update jobs set ${db.sql(changes)} where id = 'current' returning *`;
    expect(updated).toMatchObject([{ ...changes, attemptsMade: 0 }]);
    expect(await findJob("location_jobs", "current")).toMatchObject({
      ...{ leaseExpiresAt: null, isWorkDone: false, lastDueMs: 6, totalChildren: 3, sortPosition: 2.5 },
    });
    await db.sql`update location_jobs set lease_expires_at = ${leaseEnd} where id = 'current'`;
    expect(await findJob("jobs", "current")).toMatchObject({ ...changes, heldUntil: leaseEnd });
  });

  it("is admitted under the former name", async () => {
    await insertJob("location_jobs", "due", { dueAt: leaseEnd, sortPosition: 1 });
    const admitted = await db.sql`
      update jobs set queued_at = now()
      from (select distinct location_id as id from jobs where due_at is not null) location, lateral (
        select waiting.location_id, waiting.id from jobs as waiting
        where waiting.location_id = location.id and queued_at is null and due_at is not null
        order by priority, position limit 1
      ) as admitted
      where jobs.location_id = admitted.location_id and jobs.id = admitted.id
      returning jobs.*`;
    expect(admitted).toMatchObject([{ id: "due", position: 1 }]);
  });

  it("is emptied in batches under the former name", async () => {
    await deletePreviousVersionRows(db.sql, "jobs", db.sql`run_of = 'parent' and id <> 'current'`);
    expect(await db.sql`select id from location_jobs where repeating_job_id is not null`).toEqual([{ id: "current" }]);
  });
});
