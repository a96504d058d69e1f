import assert from "node:assert/strict";
import { flattenOrderProductRows, isRowCountedAsSale } from "@pragma/contracts/order-rows";
import { TillV2 } from "@pragma/contracts/till-v2";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDeductedPayment } from "./generate-payments.ts";
import { generateTill } from "./generate-till.ts";
import { defaultCaseShares, type SimulatedOrderCaseShares } from "./plan-orders.ts";
import { sumFieldOfRows } from "./product-row.ts";

const day = "2026-05-29";

const weights = Object.fromEntries(
  Object.keys(defaultCaseShares).map((name) => [name, fc.double({ min: 0, max: 1, noNaN: true })]),
) as Record<keyof SimulatedOrderCaseShares, fc.Arbitrary<number>>;

const tillArbitrary = fc
  .record({
    seed: fc.oneof(fc.maxSafeInteger(), fc.string()),
    orders: fc.integer({ min: 0, max: 40 }),
    training: fc.boolean(),
    mix: fc.record(weights, { requiredKeys: [] }),
  })
  .map((options) => {
    const key = JSON.stringify(options);
    const till = tills.get(key) ?? generateTill({ ...options, day });
    tills.set(key, till);
    return till;
  });

/** A cache of generated tills, by their options. All properties use the same seed, so they check the same tills. */
const tills = new Map<string, TillV2>();
const seed = Date.now();

function checkEveryTill(check: (till: TillV2) => void) {
  fc.assert(fc.property(tillArbitrary, check), { numRuns: 60, seed });
}

function checkEveryOrder(check: (order: TillV2["orderList"][number]) => void) {
  checkEveryTill((till) => till.orderList.forEach(check));
}

describe("generateTill", () => {
  it("returns the same till for the same options", () => {
    const options = { seed: 42, orders: 60, day };
    expect(JSON.stringify(generateTill(options))).toBe(JSON.stringify(generateTill(options)));
  });

  it("returns a till with other ids for another seed, day, size or mix", () => {
    const tills = [
      { seed: 1, orders: 20, day },
      { seed: 2, orders: 20, day },
      { seed: 1, orders: 20, day: "2026-05-30" },
      { seed: 1, orders: 21, day },
      { seed: 1, orders: 20, day, mix: { tip: 1 } },
      { seed: 1, orders: 20, day, training: true },
    ].map(generateTill);
    expect(new Set(tills.map(({ id }) => id)).size).toBe(tills.length);
    const orderIds = tills.flatMap(({ orderList }) => orderList.map(({ id }) => id));
    expect(new Set(orderIds).size).toBe(orderIds.length);
  });

  it("returns tills of the same restaurant for different days", () => {
    const [monday, tuesday] = ["2026-06-01", "2026-06-02"].map((date) =>
      generateTill({ seed: "lyon", orders: 400, day: date }),
    ) as [TillV2, TillV2];
    const describeRestaurant = (till: TillV2) => ({
      siret: till.siretCode,
      device: till.deviceIdentifier,
      clerks: new Set(till.clerkShiftList.map(({ id }) => id)),
      rooms: new Set(till.orderList.map(({ roomId }) => roomId)),
      prices: priceList(till),
    });
    expect(describeRestaurant(tuesday)).toEqual(describeRestaurant(monday));
    expect(tuesday.reportNumber).toBe(monday.reportNumber + 1);
  });

  it("uses the given till id", () => {
    const tillId = "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9";
    const till = generateTill({ seed: 1, orders: 3, day, tillId });
    expect(till).toMatchObject({ id: tillId });
    expect(till.orderList.map((order) => order.tillId)).toEqual([tillId, tillId, tillId]);
  });

  it("returns a valid till with all optional fields", () => {
    checkEveryTill((till) => {
      assert.deepEqual(TillV2.parse(till), till);
    });
  });

  it("has no duplicate ids", () => {
    checkEveryTill((till) => {
      const ids = till.orderList.flatMap((order) => [
        order.id,
        ...order.paymentRowList.map(({ id }) => id),
        ...order.menuRowList.map(({ id }) => id),
        ...flattenOrderProductRows(order).flatMap((row) => [
          row.id,
          ...row.modifierRowList.map(({ id }) => id),
          ...row.discountRowList.map(({ id }) => id),
        ]),
      ]);
      expect(new Set(ids).size).toBe(ids.length);
    });
  });

  it("generates 3,000 orders within seconds", () => {
    const start = process.cpuUsage();
    const till = generateTill({ seed: 3000, orders: 3000, day });
    expect(process.cpuUsage(start).user).toBeLessThan(5_000_000);
    expect(till.orderList).toHaveLength(3000);
    expect(JSON.stringify(till).length).toBeLessThan(50_000_000);
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("rejects %d orders", (orders) => {
    expect(() => generateTill({ seed: 1, orders, day })).toThrow(RangeError);
  });
});

describe("the amounts of a generated till", () => {
  it("follow from price, quantity, weight, modifiers, discounts and tax rate in each row", () => {
    checkEveryOrder((order) => {
      for (const row of flattenOrderProductRows(order)) {
        const { unitPriceRowWithModifier, totalRowWithModifier, totalDiscount, totalRow, taxableAmount } = row;
        const validated = row.discountRowList.filter(({ status }) => status === "validated");
        assert.deepEqual(
          { unitPriceRowWithModifier, totalDiscount, totalRow, taxAmount: row.taxAmount },
          {
            unitPriceRowWithModifier: row.unitPriceRow + sumFieldOfRows(row.modifierRowList, "amount"),
            totalDiscount: sumFieldOfRows(validated, "amount"),
            totalRow: totalRowWithModifier - totalDiscount,
            taxAmount: totalRow - taxableAmount,
          },
        );
        const unrounded = unitPriceRowWithModifier * row.quantity * (row.weight ?? 1);
        assert.ok(Math.abs(totalRowWithModifier - unrounded) < 0.501);
        const whole = 10_000 + row.taxRate * 100;
        assert.ok(2 * Math.abs(taxableAmount * whole - totalRow * 10_000) <= whole);
      }
    });
  });

  it("add up in each menu: the menu's total is the sum of its sold rows", () => {
    checkEveryOrder((order) => {
      for (const menu of order.menuRowList) {
        expect(menu.totalRow).toBe(sumFieldOfRows(menu.productRowList.filter(isRowCountedAsSale), "totalRow"));
        expect(menu.unitPriceRow).toBe(sumFieldOfRows(menu.productRowList, "unitPriceRow"));
      }
    });
  });

  it("add up in each order: the order's totals are the sums of its sold rows", () => {
    checkEveryOrder((order) => {
      const soldRows = flattenOrderProductRows(order).filter(isRowCountedAsSale);
      expect(order.total).toBe(sumFieldOfRows(soldRows, "totalRow"));
      expect(order.totalTax).toBe(sumFieldOfRows(soldRows, "taxAmount"));
      expect(order.totalWithoutTax).toBe(sumFieldOfRows(soldRows, "taxableAmount"));
      expect(order.totalDiscount).toBe(sumFieldOfRows(soldRows, "totalDiscount"));
      expect(order.totalTax + order.totalWithoutTax).toBe(order.total);
    });
  });

  it("add up over the till: the till's sales are the sum of the sold rows", () => {
    checkEveryTill((till) => {
      const soldOrders = till.orderList.filter(
        (order) => !order.isCanceled && !order.isTransferred && !order.isTraining,
      );
      const rows = soldOrders.flatMap(flattenOrderProductRows).filter(isRowCountedAsSale);
      expect(sumFieldOfRows(rows, "totalRow")).toBe(sumFieldOfRows(soldOrders, "total"));
    });
  });

  it("match the payments: the amount left to pay is the total less settled payments", () => {
    checkEveryOrder((order) => {
      const settled = sumFieldOfRows(order.paymentRowList.filter(isDeductedPayment), "amount");
      if (order.isCanceled || order.isTransferred) expect(order.leftToPay).toBe(0);
      else expect(order.leftToPay).toBe(order.total - settled);
      if (order.isPaid) expect(order.leftToPay).toBe(0);
      if (order.total > 0) for (const { amount } of order.paymentRowList) expect(amount).toBeGreaterThan(0);
    });
  });

  it("match the declared payments, and never leave a negative balance in the drawer", () => {
    checkEveryTill((till) => {
      const settled = till.orderList.filter(({ isTraining }) => !isTraining).flatMap((order) => order.paymentRowList);
      expect(sumFieldOfRows(till.declaredPaymentList, "paymentAmount")).toBe(
        sumFieldOfRows(settled.filter(isDeductedPayment), "amount"),
      );
      const cash = settled.filter(({ status, paymentMode }) => status === "validated" && paymentMode === "cash");
      const expected =
        (till.initialCashBalance ?? 0) +
        sumFieldOfRows(cash, "amount") +
        sumFieldOfRows(till.financialMovementList, "amount");
      expect([null, expected]).toContain(till.finalCashBalance);
      expect(expected).toBeGreaterThanOrEqual(0);
    });
  });
});

function priceList(till: TillV2): Map<string, number> {
  const rows = till.orderList.flatMap((order) => order.productRowList);
  const whole = rows.filter((row) => row.discountRowList.length === 0 && row.quantity === 1 && row.unitPriceRow > 0);
  const prices = new Map<string, number>();
  for (const { productId, unitPriceRow } of whole)
    prices.set(productId ?? "", Math.max(unitPriceRow, prices.get(productId ?? "") ?? 0));
  return new Map([...prices].sort());
}
