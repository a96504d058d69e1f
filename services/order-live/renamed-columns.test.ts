import { randomUUID } from "node:crypto";
import type { Database } from "@pragma/runtime/database/postgres";
import { createPreviousDatabaseSchema, deletePreviousVersionRows } from "@pragma/runtime/testing/previous-schema";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let environment: IsolatedTestEnvironment;
let db: Database;
const locationId = randomUUID();
const orderId = randomUUID();
const departedId = randomUUID();
const now = new Date("2026-01-01");

const orderRow = (id: string) => ({
  ...{ locationId, id, tillId: locationId, isTraining: false, isPaid: false, isTransferred: false, isCanceled: false },
  ...{ isManuallyClosed: false, sequence: 1, position: 1, createdAt: now, updatedAt: now },
});

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const previous = await createPreviousDatabaseSchema(environment, { _runtime: 6, "order-live": 4 });
  db = previous.db;
  await db.sql`insert into streams (location_id, position) values (${locationId}, 1)`;
  await db.sql`insert into orders ${db.sql({ ...orderRow(orderId), rowsHash: "earlier", body: "{}" })}`;
  await db.sql`insert into orders ${db.sql({ ...orderRow(departedId), leftAt: now })}`;
  await db.sql`insert into revisions (location_id, position, order_id, body) values (${locationId}, 1, ${orderId}, '{}')`;
  await db.sql`insert into devices (location_id, id, name, told_at) values (${locationId}, 'earlier', 'n', ${now})`;
  await previous.migrate();
});
afterAll(async () => {
  await db.close();
  await environment.remove();
});

describe("location_streams, formerly streams", () => {
  it("is locked and moved under both names", async () => {
    await db.sql`insert into streams (location_id, position) values (${locationId}, 0) on conflict do nothing`;
    expect(await db.sql`select position from streams where location_id = ${locationId} for update`).toEqual([
      { position: 1 },
    ]);
    await db.sql`update streams set position = 2 where location_id = ${locationId}`;
    expect(await db.sql`select position from location_streams`).toEqual([{ position: 2 }]);
    await db.sql`update location_streams set position = 3`;
    expect(await db.sql`select position from streams`).toEqual([{ position: 3 }]);
  });
});

describe("live_orders, formerly orders", () => {
  const findOrder = async (id: string) =>
    (await db.sql`select items_hash, departed_at, body from live_orders where id = ${id}`)[0];
  /** Inserts an order or replaces its state with the same SQL as the previous version of the service. */
  const upsertPrevious = (id: string, rowsHash: string) => db.sql`
    insert into orders ${db.sql({ ...orderRow(id), rowsHash, body: "{}" })}
    on conflict (location_id, id) do update set
      rows_hash = excluded.rows_hash, body = excluded.body, left_at = null, closed_at = null`;

  it("has the rows from before the migration", async () => {
    expect(await findOrder(orderId)).toEqual({ itemsHash: "earlier", departedAt: null, body: "{}" });
    expect(await findOrder(departedId)).toEqual({ itemsHash: null, departedAt: now, body: null });
  });

  it("departs and returns under both names", async () => {
    const id = randomUUID();
    await upsertPrevious(id, "first");
    expect(await findOrder(id)).toEqual({ itemsHash: "first", departedAt: null, body: "{}" });
    await db.sql`update live_orders set departed_at = ${now}, body = null where id = ${id}`;
    expect(await db.sql`select left_at is not null as has_left from orders where id = ${id}`).toEqual([
      { hasLeft: true },
    ]);
    await upsertPrevious(id, "second");
    expect(await findOrder(id)).toEqual({ itemsHash: "second", departedAt: null, body: "{}" });
    await db.sql`update orders set left_at = ${now}, body = null where id = any(${[id]}::uuid[])`;
    expect(await findOrder(id)).toEqual({ itemsHash: "second", departedAt: now, body: null });
  });

  it("is emptied in batches under the former name", async () => {
    await deletePreviousVersionRows(db.sql, "orders", db.sql`left_at <= ${now}`);
    expect(await db.sql`select id from live_orders`).toEqual([{ id: orderId }]);
  });
});

describe("order_revisions, formerly revisions", () => {
  it("is appended and trimmed under both names", async () => {
    await db.sql`
      insert into revisions (location_id, position, order_id, after, body)
      values (${locationId}, 2, ${orderId}, ${db.sql.json({})}, '{}')`;
    await db.sql`
      insert into order_revisions (location_id, position, order_id, body) values (${locationId}, 3, ${orderId}, '{}')`;
    const positions = async (table: string) =>
      (await db.sql`select position from ${db.sql(table)} order by position`).map(({ position }) => position);
    expect(await positions("order_revisions")).toEqual([1, 2, 3]);
    expect(await positions("revisions")).toEqual([1, 2, 3]);
    await deletePreviousVersionRows(db.sql, "revisions", db.sql`position < 3 and created_at < now()`);
    expect(await positions("order_revisions")).toEqual([3]);
  });
});

describe("published_devices, formerly devices", () => {
  it("is updated under both names at most once an hour", async () => {
    const recordPrevious = () => db.sql`
      insert into devices (location_id, id, name, told_at) values (${locationId}, 'earlier', null, now())
      on conflict (location_id, id) do update
        set name = coalesce(excluded.name, devices.name), told_at = excluded.told_at
        where devices.told_at < now() - interval '1 hour'
      returning name`;
    expect(await recordPrevious()).toEqual([{ name: "n" }]);
    expect(await recordPrevious()).toEqual([]);
    await db.sql`update published_devices set published_at = ${now}`;
    expect(await db.sql`select told_at from devices`).toEqual([{ toldAt: now }]);
    expect(await recordPrevious()).toEqual([{ name: "n" }]);
  });
});
