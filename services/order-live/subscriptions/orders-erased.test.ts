import { randomUUID } from "node:crypto";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import type { Principal } from "@pragma/contracts/principal";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestLiveOrderInput } from "../testing/order-fixtures.ts";
import {
  buildTestPosPrincipalAndLocation,
  startTestOrderLiveService,
  type TestOrderLiveService,
} from "../testing/start-test-order-live.ts";

let service: TestOrderLiveService;
beforeAll(async () => {
  service = await startTestOrderLiveService();
});
afterAll(() => service?.remove());

const name = "Ada";
const withName = (order: OrderLiveInput): OrderLiveInput => ({
  ...order,
  data: { ...order.data, firebaseCustomerName: name },
});

async function eraseOrders(locationId: string, orderIds: string[]): Promise<void> {
  const id = randomUUID();
  await service.db.transaction((tx) =>
    writeEventToOutbox(tx, "orders.erased", {
      ...{ id, subject: locationId, traceparent: undefined },
      data: { locationId, tillId: null, orderIds, isWholeTill: false },
    }),
  );
  await eventually("the erasure", async () => {
    const [inboxRow] = await service.db.sql`select 1 from inbox where event_id = ${id}`;
    return inboxRow;
  });
}

const upsert = (principal: Principal, key: string, orders: OrderLiveInput[]) =>
  service.request("POST", "/v1/orders-live/", { principal, body: orders, headers: { "idempotency-key": key } });

describe("an erased order", () => {
  it("is not in the stored response to a repeated request, which does not take effect again", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const [order, other] = [withName(createTestLiveOrderInput()), withName(createTestLiveOrderInput())];
    expect(await (await upsert(principal, "both", [order, other])).text()).toContain(name);
    expect(await (await upsert(principal, "other", [{ ...other, revisionHash: "2" }])).text()).toContain(name);
    await eraseOrders(locationId, [order.id]);

    const repeated = await upsert(principal, "both", [order, other]);
    expect(repeated.status).toBe(204);
    expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    expect((await upsert(principal, "both", [order])).status).toBe(422);
    expect(await service.publishedEvents(order.id)).toHaveLength(1);
    expect(await (await upsert(principal, "other", [{ ...other, revisionHash: "2" }])).text()).toContain(name);
  });

  it("stays without personal data when the point of sale sends it again", async () => {
    const { principal, locationId } = buildTestPosPrincipalAndLocation();
    const order = withName(createTestLiveOrderInput());
    await eraseOrders(locationId, [order.id]);
    const [applied] = await service.upsertOrders(principal, order);
    expect(applied?.data).toMatchObject({ firebaseCustomerName: null });
    expect(JSON.stringify(await service.publishedEvents(order.id))).not.toContain(name);
    const { sql } = service.db;
    for (const table of ["live_orders", "order_revisions"])
      expect(await sql`select from ${sql(table)} where body like ${`%${order.id}%${name}%`}`).toEqual([]);
    // The same id at another location is another order.
    const elsewhere = buildTestPosPrincipalAndLocation().principal;
    const [appliedElsewhere] = await service.upsertOrders(elsewhere, order);
    expect(appliedElsewhere?.data).toMatchObject({ firebaseCustomerName: name });
  });
});
