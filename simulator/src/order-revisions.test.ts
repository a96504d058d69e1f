import assert from "node:assert/strict";
import { OrderLiveInput } from "@pragma/contracts/order-live";
import { allProductRows, computeRowAmounts } from "@pragma/contracts/order-rows";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type GeneratedTill, generateTill } from "./generate-till.ts";
import { generateOrderRevisions } from "./order-revisions.ts";
import { defaultTillMix } from "./plan-orders.ts";
import { computeOrderAmounts, sumField } from "./product-row.ts";

const busyMix = Object.fromEntries(Object.keys(defaultTillMix).map((name) => [name, 0.25]));

/** An order as it is in the end, and all its revisions in their order. */
type Order = [revisions: OrderLiveInput[], final: OrderLiveInput["data"]];

const anyOrders = fc
  .record({ seed: fc.integer(), orders: fc.integer({ min: 1, max: 12 }), mix: fc.constantFrom({}, busyMix) })
  .map((options) => {
    const key = JSON.stringify(options);
    const orders = generated.get(key) ?? ordersOf(generateTill({ ...options, day: "2026-05-29" }));
    generated.set(key, orders);
    return orders;
  });

/** The orders that were generated, by their options: under the same seed each property looks at the same ones. */
const generated = new Map<string, Order[]>();
const seed = Date.now();

function ordersOf(till: GeneratedTill): Order[] {
  const revisions = generateOrderRevisions(till).map(({ order }) => order);
  return till.orderList.map((final) => [revisions.filter(({ id }) => id === final.id), final]);
}

/** Calls back with the revisions of each order of many tills. */
function everyOrder(holds: (...order: Order) => void) {
  fc.assert(
    fc.property(anyOrders, (orders) => {
      for (const order of orders) holds(...order);
    }),
    { numRuns: 60, seed },
  );
}

describe("the revisions of a generated till", () => {
  it("begin when an order is opened, end as the till has it, and go forward in time", () => {
    everyOrder((revisions, final) => {
      const [first] = revisions;
      expect(first?.data.modifiedAt).toBe(final.openedAt);
      expect(revisions.at(-1)?.data).toEqual(final);
      expect(revisions.at(-1)?.revisionHash).toBe(final.revisionHash);
      const times = revisions.map(({ data }) => data.modifiedAt ?? "");
      expect(times).toEqual([...new Set(times)].sort());
      expect(new Set(revisions.map(({ revisionHash }) => revisionHash)).size).toBe(revisions.length);
    });
  });

  it("are orders that the API accepts as they are", () => {
    everyOrder((revisions) => {
      for (const order of revisions) assert.deepEqual(OrderLiveInput.parse(order), order);
    });
  });

  it("add up at any time: rows, menus, totals and what is left to pay", () => {
    everyOrder((revisions) => {
      for (const { data } of revisions) {
        for (const row of allProductRows(data)) assert.deepEqual(computeRowAmounts(row), row);
        for (const menu of data.menuRowList) {
          assert.equal(menu.unitPriceRow, sumField(menu.productRowList, "unitPriceRow"));
        }
        const { total, totalTax, totalDiscount, totalWithoutTax } = data;
        assert.deepEqual({ total, totalTax, totalDiscount, totalWithoutTax }, computeOrderAmounts(data));
        if (data.isPaid) assert.equal(data.leftToPay, 0);
      }
    });
  });

  it("never show what comes later, nor a part of what is split before its whole", () => {
    everyOrder((revisions) => {
      let before = new Set<string>();
      for (const { data } of revisions) {
        const now = data.modifiedAt ?? "";
        const rows = allProductRows(data);
        const stamps = [
          ...rows.flatMap((row) => [row.recordedAt, row.modifiedAt, row.reclaimedAt]),
          ...data.paymentRowList.flatMap(({ recordedAt, modifiedAt }) => [recordedAt, modifiedAt]),
          data.firstBillPrintDate,
          data.paidAt,
          data.canceledAt,
        ].filter((stamp) => stamp !== null);
        expect(stamps.filter((stamp) => stamp > now)).toEqual([]);
        for (const { parentProductRowId } of rows) {
          if (parentProductRowId !== null) expect(before).toContain(parentProductRowId);
        }
        before = new Set(rows.map(({ id }) => id));
      }
    });
  });

  it("keep what a split row costs until it is split", () => {
    const till = generateTill({
      seed: "splits",
      orders: 40,
      day: "2026-05-29",
      mix: { splitRow: 1, splitMenu: 1, canceledOrder: 0, transferredOrder: 0 },
    });
    const revisions = generateOrderRevisions(till).map(({ order }) => order);
    for (const final of till.orderList.filter(
      (order) => !order.isCanceled && allProductRows(order).some((row) => row.parentProductRowId !== null),
    )) {
      const ofOrder = revisions.filter(({ id }) => id === final.id);
      const split = ofOrder.findIndex(({ data }) =>
        allProductRows(data).some((row) => row.parentProductRowId !== null),
      );
      expect(split).toBeGreaterThan(0);
      expect(ofOrder[split]?.data.total).toBe(ofOrder[split - 1]?.data.total);
    }
  });

  it("show tables that are paid in parts, one payment after the other", () => {
    const till = generateTill({ seed: "parts", orders: 20, day: "2026-05-29", mix: { partPayments: 1 } });
    const revisions = generateOrderRevisions(till).map(({ order }) => order);
    const partly = revisions.filter(({ data }) => data.leftToPay > 0 && data.leftToPay < data.total && !data.isPaid);
    expect(new Set(partly.map(({ id }) => id)).size).toBeGreaterThan(10);
  });

  it("change a table some ten times", () => {
    const till = generateTill({ seed: "count", orders: 100, day: "2026-05-29" });
    const average = generateOrderRevisions(till).length / 100;
    expect(average).toBeGreaterThan(5);
    expect(average).toBeLessThan(12);
  });
});
