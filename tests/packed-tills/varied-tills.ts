import { randomUUID } from "node:crypto";
import { type GeneratedTill, generateTill } from "@pragma/simulator/generate-till";
import { expect } from "vitest";
import { convertGeneratedTillToV1 } from "../harness/convert-till-to-v1.ts";
import type { PragmaUnderTest } from "../harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "../harness/test-location.ts";

/** A location with its tills, as they were pushed. */
export interface LocationWithTills {
  location: TestLocation;
  tills: PushedTill[];
}

export interface PushedTill {
  id: string;
  /** The business day of the till. */
  day: string;
  orderIds: string[];
  format: "V1" | "V2";
  isTraining: boolean;
  /** The body of the till, unless it was pushed in the V1 format. */
  body: GeneratedTill;
}

type GeneratedOrder = GeneratedTill["orderList"][number];

const dayMs = 86_400_000;
const timeZones = ["Europe/Paris", "Pacific/Auckland", "America/Cayenne"];
const scopes = ["tills:write", "tills:read", "reports:read", "orders:read", "accounting:write"] as const;

/** Returns the day a number of days ago, YYYY-MM-DD in UTC. */
export function dayBefore(days: number): string {
  return new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);
}

/**
 * Creates a location in each of three time zones, and pushes `count` tills in total, of `ordersPerTill` orders. Most of
 * their days are before the last `hotDays` days. Waits for the reports.
 */
export async function pushVariedTills(
  product: PragmaUnderTest,
  { count, ordersPerTill, hotDays }: { count: number; ordersPerTill: number; hotDays: number },
): Promise<LocationWithTills[]> {
  const locations: LocationWithTills[] = [];
  for (const [index, timezone] of timeZones.entries()) {
    const location = await createTestLocation(product, {
      scopes: [...scopes],
      application: index === 2 ? "JALIA" : "POPINA",
    });
    const changed = await fetch(`${product.url}/v1/locations/${location.locationId}`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${product.adminKey}`, "content-type": "application/json" },
      body: JSON.stringify({ locationSettings: { timezone } }),
    });
    expect(changed.status).toBe(200);
    locations.push({ location, tills: [] });
  }
  for (let index = 0; index < count; index += 1) {
    const target = locations[index % locations.length] ?? expect.unreachable();
    await pushVariedTill(target, { index, orders: ordersPerTill, hotDays });
  }
  for (const { location, tills } of locations)
    await location.waitForReports(tills.filter(({ isTraining }) => !isTraining).length);
  return locations;
}

async function pushVariedTill(
  { location, tills }: LocationWithTills,
  { index, orders, hotDays }: { index: number; orders: number; hotDays: number },
): Promise<void> {
  const round = Math.floor(index / timeZones.length);
  // Two tills on a day, then a day without one. Some tills stay in PostgreSQL, one of them on the first of these days.
  const days = round % 9 === 2 ? hotDays + 1 : round % 9 === 3 ? hotDays : round % 9 === 5 ? 2 : 150 + (round >> 1) * 2;
  const day = dayBefore(days);
  const kind = index % 12;
  const till = generateTill({
    ...{ seed: `packed ${location.locationId}`, tillId: randomUUID(), day },
    orders: kind === 7 ? 0 : kind === 8 ? 1 : orders,
    training: kind === 4,
    mix: { canceledOrder: 0.2, transferredOrder: 0.2 },
  });
  const orderList = till.orderList.map(
    (order, position): GeneratedOrder => ({
      ...order,
      ...bordersOf(order, position, day),
      firebaseCustomerName: `Customer ${order.id}`,
    }),
  );
  if (kind === 8) orderList.splice(0, 1, ...orderList.slice(0, 1).map(enlargeOrder));
  // An order of an earlier till, which becomes current in this one.
  const earlier = tills.findLast(({ orderIds }) => orderIds.length > 0);
  const shared = earlier?.body.orderList[0];
  if (kind % 6 === 5 && shared) orderList.push({ ...shared, billPrintCount: 7 });
  const body = { ...till, orderList };
  const isV1 = index % 4 === 2 && kind !== 8;
  const pushed = isV1
    ? await location.request("POST", "/v1/tills/", { body: convertGeneratedTillToV1(body, location) })
    : await location.request("POST", "/v2/tills/", { body });
  expect(pushed.status, await pushed.text()).toBe(201);
  if (kind === 9 || kind === 6) {
    const replacement = { ...body, note: "Replaced", orderList: orderList.slice(kind === 9 ? 1 : 0) };
    body.orderList = replacement.orderList;
    const path = `/v1/tills/${till.id}`;
    const replaced = await location.request("PUT", path, {
      body: isV1 ? convertGeneratedTillToV1(replacement, location) : replacement,
    });
    expect(replaced.status, await replaced.text()).toBe(200);
  }
  tills.push({
    ...{ id: till.id, day, body, format: isV1 ? "V1" : "V2", isTraining: till.isTraining },
    orderIds: body.orderList.map(({ id }) => id),
  });
}

/** Returns opening times at the ends of days for the first orders of a till, and none for others. */
function bordersOf({ openedAt }: GeneratedOrder, position: number, day: string): Partial<GeneratedOrder> {
  const times = [`${day}T00:00:00.000Z`, `${day}T23:59:59.999Z`, openedAt];
  return position < times.length ? { openedAt: times[position] as string } : {};
}

/** Returns an order whose responses are larger than a block of a packed till. */
function enlargeOrder(order: GeneratedOrder): GeneratedOrder {
  const [row = expect.unreachable()] = order.productRowList;
  const productRowList = Array.from({ length: 300 }, (_, index) => ({
    ...row,
    id: randomUUID(),
    comment: `${index} ${randomUUID().repeat(200)}`,
  }));
  return { ...order, productRowList: [...order.productRowList, ...productRowList] };
}
