import assert from "node:assert/strict";
import { allProductRows, isSoldRow } from "@pragma/contracts/order-rows";
import { TillV2 } from "@pragma/contracts/till-v2";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSettlingPayment } from "./generate-payments.ts";
import { generateTill } from "./generate-till.ts";
import { defaultTillMix, type TillMix } from "./plan-orders.ts";
import { sumField } from "./product-row.ts";

const day = "2026-05-29";

const weights = Object.fromEntries(
  Object.keys(defaultTillMix).map((name) => [name, fc.double({ min: 0, max: 1, noNaN: true })]),
) as Record<keyof TillMix, fc.Arbitrary<number>>;

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

/** The tills that were generated, by their options: under the same seed each property looks at the same ones. */
const tills = new Map<string, TillV2>();
const seed = Date.now();

function everyTill(holds: (till: TillV2) => void) {
  fc.assert(fc.property(tillArbitrary, holds), { numRuns: 60, seed });
}

function everyOrder(holds: (order: TillV2["orderList"][number]) => void) {
  everyTill((till) => till.orderList.forEach(holds));
}

describe("generateTill", () => {
  it("makes the same bytes from the same options", () => {
    const options = { seed: 42, orders: 60, day };
    expect(JSON.stringify(generateTill(options))).toBe(JSON.stringify(generateTill(options)));
  });

  it("makes another till, with other ids, for another seed, day, size or mix", () => {
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

  it("keeps the restaurant from one day to the next", () => {
    const [monday, tuesday] = ["2026-06-01", "2026-06-02"].map((date) =>
      generateTill({ seed: "lyon", orders: 400, day: date }),
    ) as [TillV2, TillV2];
    const facts = (till: TillV2) => ({
      siret: till.siretCode,
      device: till.deviceIdentifier,
      clerks: new Set(till.clerkShiftList.map(({ id }) => id)),
      rooms: new Set(till.orderList.map(({ roomId }) => roomId)),
      prices: priceList(till),
    });
    expect(facts(tuesday)).toEqual(facts(monday));
    expect(tuesday.reportNumber).toBe(monday.reportNumber + 1);
  });

  it("takes the till id it is given", () => {
    const tillId = "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9";
    const till = generateTill({ seed: 1, orders: 3, day, tillId });
    expect(till).toMatchObject({ id: tillId });
    expect(till.orderList.map((order) => order.tillId)).toEqual([tillId, tillId, tillId]);
  });

  it("makes a till that the API accepts, and says everything that it could", () => {
    everyTill((till) => {
      assert.deepEqual(TillV2.parse(till), till);
    });
  });

  it("uses every id once", () => {
    everyTill((till) => {
      const ids = till.orderList.flatMap((order) => [
        order.id,
        ...order.paymentRowList.map(({ id }) => id),
        ...order.menuRowList.map(({ id }) => id),
        ...allProductRows(order).flatMap((row) => [
          row.id,
          ...row.modifierRowList.map(({ id }) => id),
          ...row.discountRowList.map(({ id }) => id),
        ]),
      ]);
      expect(new Set(ids).size).toBe(ids.length);
    });
  });

  it("makes 3,000 orders within seconds", () => {
    const start = process.cpuUsage();
    const till = generateTill({ seed: 3000, orders: 3000, day });
    expect(process.cpuUsage(start).user).toBeLessThan(5_000_000);
    expect(till.orderList).toHaveLength(3000);
    expect(JSON.stringify(till).length).toBeLessThan(50_000_000);
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("refuses %d orders", (orders) => {
    expect(() => generateTill({ seed: 1, orders, day })).toThrow(RangeError);
  });
});

describe("the money of a generated till", () => {
  it("follows from price, quantity, weight, modifiers, discounts and rate, row by row", () => {
    everyOrder((order) => {
      for (const row of allProductRows(order)) {
        const { unitPriceRowWithModifier, totalRowWithModifier, totalDiscount, totalRow, taxableAmount } = row;
        const validated = row.discountRowList.filter(({ status }) => status === "validated");
        assert.deepEqual(
          { unitPriceRowWithModifier, totalDiscount, totalRow, taxAmount: row.taxAmount },
          {
            unitPriceRowWithModifier: row.unitPriceRow + sumField(row.modifierRowList, "amount"),
            totalDiscount: sumField(validated, "amount"),
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

  it("adds up in each menu: its total is that of its products that count", () => {
    everyOrder((order) => {
      for (const menu of order.menuRowList) {
        expect(menu.totalRow).toBe(sumField(menu.productRowList.filter(isSoldRow), "totalRow"));
        expect(menu.unitPriceRow).toBe(sumField(menu.productRowList, "unitPriceRow"));
      }
    });
  });

  it("adds up in each order: its totals are those of its rows that count", () => {
    everyOrder((order) => {
      const counting = allProductRows(order).filter(isSoldRow);
      expect(order.total).toBe(sumField(counting, "totalRow"));
      expect(order.totalTax).toBe(sumField(counting, "taxAmount"));
      expect(order.totalWithoutTax).toBe(sumField(counting, "taxableAmount"));
      expect(order.totalDiscount).toBe(sumField(counting, "totalDiscount"));
      expect(order.totalTax + order.totalWithoutTax).toBe(order.total);
    });
  });

  it("adds up over the till: the rows that count are the sales of the orders that count", () => {
    everyTill((till) => {
      const counting = till.orderList.filter((order) => !order.isCanceled && !order.isTransferred && !order.isTraining);
      const rows = counting.flatMap(allProductRows).filter(isSoldRow);
      expect(sumField(rows, "totalRow")).toBe(sumField(counting, "total"));
    });
  });

  it("is paid to the cent: what is left to pay is the total less what was settled", () => {
    everyOrder((order) => {
      const settled = sumField(order.paymentRowList.filter(isSettlingPayment), "amount");
      if (order.isCanceled || order.isTransferred) expect(order.leftToPay).toBe(0);
      else expect(order.leftToPay).toBe(order.total - settled);
      if (order.isPaid) expect(order.leftToPay).toBe(0);
      if (order.total > 0) for (const { amount } of order.paymentRowList) expect(amount).toBeGreaterThan(0);
    });
  });

  it("is declared as it was paid, and never leaves less than nothing in the drawer", () => {
    everyTill((till) => {
      const settled = till.orderList.filter(({ isTraining }) => !isTraining).flatMap((order) => order.paymentRowList);
      expect(sumField(till.declaredPaymentList, "paymentAmount")).toBe(
        sumField(settled.filter(isSettlingPayment), "amount"),
      );
      const cash = settled.filter(({ status, paymentMode }) => status === "validated" && paymentMode === "cash");
      const expected =
        (till.initialCashBalance ?? 0) + sumField(cash, "amount") + sumField(till.financialMovementList, "amount");
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
