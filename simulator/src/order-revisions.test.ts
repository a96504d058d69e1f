import assert from "node:assert/strict";
import { OrderLiveInput } from "@pragma/contracts/order-live";
import { computeProductRowAmounts, flattenOrderProductRows } from "@pragma/contracts/order-rows";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type GeneratedTill, generateTill } from "./generate-till.ts";
import { generateRevisionsOfTillOrders } from "./order-revisions.ts";
import { defaultCaseShares } from "./plan-orders.ts";
import { computeSimulatedOrderAmounts, sumFieldOfRows } from "./product-row.ts";

const busyMix = Object.fromEntries(Object.keys(defaultCaseShares).map((name) => [name, 0.25]));

/** All revisions of an order, sorted by time, and the final state of the order. */
type RevisedOrder = [revisions: OrderLiveInput[], final: OrderLiveInput["data"]];

const ordersArbitrary = fc
  .record({ seed: fc.integer(), orders: fc.integer({ min: 1, max: 12 }), mix: fc.constantFrom({}, busyMix) })
  .map((options) => {
    const key = JSON.stringify(options);
    const orders = ordersByOptions.get(key) ?? reviseOrders(generateTill({ ...options, day: "2026-05-29" }));
    ordersByOptions.set(key, orders);
    return orders;
  });

/** A cache of generated orders, by their options. All properties use the same seed, so they check the same orders. */
const ordersByOptions = new Map<string, RevisedOrder[]>();
const seed = Date.now();

function reviseOrders(till: GeneratedTill): RevisedOrder[] {
  const revisions = generateRevisionsOfTillOrders(till).map(({ order }) => order);
  return till.orderList.map((final) => [revisions.filter(({ id }) => id === final.id), final]);
}

/** Generates many tills, and checks a property of each order's revisions. */
function checkEveryOrder(check: (...order: RevisedOrder) => void) {
  fc.assert(
    fc.property(ordersArbitrary, (orders) => {
      for (const order of orders) check(...order);
    }),
    { numRuns: 60, seed },
  );
}

describe("the revisions of a generated till", () => {
  it("start with the opening of an order, end with the order in the till, and are sorted by time", () => {
    checkEveryOrder((revisions, final) => {
      const [first] = revisions;
      expect(first?.data.modifiedAt).toBe(final.openedAt);
      expect(revisions.at(-1)?.data).toEqual(final);
      expect(revisions.at(-1)?.revisionHash).toBe(final.revisionHash);
      const times = revisions.map(({ data }) => data.modifiedAt ?? "");
      expect(times).toEqual([...new Set(times)].sort());
      expect(new Set(revisions.map(({ revisionHash }) => revisionHash)).size).toBe(revisions.length);
    });
  });

  it("are valid live orders", () => {
    checkEveryOrder((revisions) => {
      for (const order of revisions) assert.deepEqual(OrderLiveInput.parse(order), order);
    });
  });

  it("add up at any time: rows, menus, totals and the amount left to pay", () => {
    checkEveryOrder((revisions) => {
      for (const { data } of revisions) {
        for (const row of flattenOrderProductRows(data)) assert.deepEqual(computeProductRowAmounts(row), row);
        for (const menu of data.menuRowList) {
          assert.equal(menu.unitPriceRow, sumFieldOfRows(menu.productRowList, "unitPriceRow"));
        }
        const { total, totalTax, totalDiscount, totalWithoutTax } = data;
        assert.deepEqual({ total, totalTax, totalDiscount, totalWithoutTax }, computeSimulatedOrderAmounts(data));
        if (data.isPaid) assert.equal(data.leftToPay, 0);
      }
    });
  });

  it("contain nothing from later times, and no part of a split row before the whole row", () => {
    checkEveryOrder((revisions) => {
      let before = new Set<string>();
      for (const { data } of revisions) {
        const now = data.modifiedAt ?? "";
        const rows = flattenOrderProductRows(data);
        const times = [
          ...rows.flatMap((row) => [row.recordedAt, row.modifiedAt, row.reclaimedAt]),
          ...data.paymentRowList.flatMap(({ recordedAt, modifiedAt }) => [recordedAt, modifiedAt]),
          data.firstBillPrintDate,
          data.paidAt,
          data.canceledAt,
        ].filter((time) => time !== null);
        expect(times.filter((time) => time > now)).toEqual([]);
        for (const { parentProductRowId } of rows) {
          if (parentProductRowId !== null) expect(before).toContain(parentProductRowId);
        }
        before = new Set(rows.map(({ id }) => id));
      }
    });
  });

  it("keep the total of an order when a row is split", () => {
    const till = generateTill({
      seed: "splits",
      orders: 40,
      day: "2026-05-29",
      mix: { splitRow: 1, splitMenu: 1, canceledOrder: 0, transferredOrder: 0 },
    });
    const revisions = generateRevisionsOfTillOrders(till).map(({ order }) => order);
    for (const final of till.orderList.filter(
      (order) => !order.isCanceled && flattenOrderProductRows(order).some((row) => row.parentProductRowId !== null),
    )) {
      const orderRevisions = revisions.filter(({ id }) => id === final.id);
      const splitIndex = orderRevisions.findIndex(({ data }) =>
        flattenOrderProductRows(data).some((row) => row.parentProductRowId !== null),
      );
      expect(splitIndex).toBeGreaterThan(0);
      expect(orderRevisions[splitIndex]?.data.total).toBe(orderRevisions[splitIndex - 1]?.data.total);
    }
  });

  it("show orders that are paid in parts, one payment after the other", () => {
    const till = generateTill({ seed: "parts", orders: 20, day: "2026-05-29", mix: { partPayments: 1 } });
    const revisions = generateRevisionsOfTillOrders(till).map(({ order }) => order);
    const partlyPaid = revisions.filter(
      ({ data }) => data.leftToPay > 0 && data.leftToPay < data.total && !data.isPaid,
    );
    expect(new Set(partlyPaid.map(({ id }) => id)).size).toBeGreaterThan(10);
  });

  it("change an order five to twelve times on average", () => {
    const till = generateTill({ seed: "count", orders: 100, day: "2026-05-29" });
    const average = generateRevisionsOfTillOrders(till).length / 100;
    expect(average).toBeGreaterThan(5);
    expect(average).toBeLessThan(12);
  });
});
