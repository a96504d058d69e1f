import { afterAll, beforeAll, expect, it } from "vitest";
import { createPreviousDatabaseSchema } from "../testing/previous-schema.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { deleteRowsInBatches } from "./remove-expired-rows.ts";

let environment: IsolatedTestEnvironment;
beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
});
afterAll(() => environment.remove());

it("deletes only the expired rows of a partitioned table, in several batches", async () => {
  const { db } = await createPreviousDatabaseSchema(environment, {});
  try {
    await db.sql`create table entries (id int, is_expired boolean) partition by list (is_expired)`;
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
