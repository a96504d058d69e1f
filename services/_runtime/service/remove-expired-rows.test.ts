import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabaseSchema } from "../testing/database-schema.ts";
import { eventually } from "../testing/eventually.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { deleteRowsInBatches } from "./remove-expired-rows.ts";

let environment: IsolatedTestEnvironment;
beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
});
afterAll(() => environment.remove());

it("deletes only the expired rows of a partitioned table, in several batches", async () => {
  const db = await createTestDatabaseSchema(environment, []);
  try {
    await db.sql`create table entries (id int, is_expired boolean, primary key (id, is_expired)) partition by list (is_expired)`;
    await db.sql`create table entries_p0 partition of entries for values in (true)`;
    // Its rows are at the same places in the partition as the expired rows.
    await db.sql`create table entries_p1 partition of entries for values in (false)`;
    await db.sql`insert into entries select id, is_expired from generate_series(1, 12000) id, (values (true), (false)) v (is_expired)`;
    await deleteRowsInBatches(db.sql, "entries", db.sql`is_expired`);
    expect(await db.sql`select is_expired, count(*) from entries group by 1`).toEqual([
      { isExpired: false, count: 12_000 },
    ]);
  } finally {
    await db.close();
  }
});

it("keeps a row that stops being expired while the batch waits for it", async () => {
  const db = await createTestDatabaseSchema(environment, [], "changed");
  try {
    await db.sql`create table entries (id int primary key, is_expired boolean)`;
    await db.sql`insert into entries values (1, true), (2, true)`;
    let deletion: Promise<void> | undefined;
    await db.transaction(async (tx) => {
      await tx`update entries set is_expired = false where id = 1`;
      deletion = deleteRowsInBatches(db.sql, "entries", db.sql`is_expired`);
      await eventually("the deletion waits for the row", async () => {
        const waiting = await db.sql`
          select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%delete from "entries"%'`;
        expect(waiting.length).toBe(1);
        return true;
      });
    });
    await deletion;
    expect(await db.sql`select id from entries`).toEqual([{ id: 1 }]);
  } finally {
    await db.close();
  }
});
