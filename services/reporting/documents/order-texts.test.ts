import { describe, expect, it } from "vitest";
import { replaceOrderTimes, toStoredOrderTexts } from "./order-texts.ts";
import { decompressV2Order } from "./v2-order-compression.ts";

const order = { id: "5f3c", v1: '{"total":1200}', v2: '{"total":"12.00","rows":["Crème"]}' };
const now = "2026-05-29T10:00:00.000Z";
const earlier = "2026-05-01T09:30:00.000Z";
const newOrder = { createdAt: now, updatedAt: now };
const orderOfEarlierTill = { createdAt: earlier, updatedAt: now };

describe("the texts of an order", () => {
  const readV2 = async ({ v1, v2Deflated }: ReturnType<typeof toStoredOrderTexts>) =>
    `${Buffer.from(await decompressV2Order(v2Deflated, { v1: Buffer.from(v1) }))}`;

  it("begin with the id and the times", async () => {
    const stored = toStoredOrderTexts(order, newOrder);
    expect(stored.v1).toBe(`{"id":"5f3c","createdAt":"${now}","updatedAt":"${now}","total":1200}`);
    expect(JSON.parse(await readV2(stored))).toEqual({ id: "5f3c", ...newOrder, ...JSON.parse(order.v2) });
  });

  it("have the same bytes after their times were replaced as if they had been written with these times", () => {
    const stored = toStoredOrderTexts(order, newOrder);
    const replaced = replaceOrderTimes({ id: order.id, ...stored }, { from: newOrder, to: orderOfEarlierTill });
    expect(replaced).toEqual(toStoredOrderTexts(order, orderOfEarlierTill));
    expect(replaced).not.toEqual(stored);
  });

  it("are not changed if they have other times", () => {
    const stored = { id: order.id, ...toStoredOrderTexts(order, newOrder) };
    expect(() => replaceOrderTimes(stored, { from: orderOfEarlierTill, to: newOrder })).toThrow("other times");
  });
});
