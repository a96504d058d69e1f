import type { PosOrderProductRow } from "@pragma/contracts/order-rows";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { computeTimesOfSimulatedOrder } from "./order-times.ts";
import {
  applyDiscountToProductRow,
  chooseRandomProductModifiers,
  generateProductRow,
  sumFieldOfRows,
} from "./product-row.ts";
import { SeededRandom } from "./random.ts";
import { type GeneratedRestaurantProduct, generateRestaurant } from "./restaurant.ts";
import { generateSetMenuRow } from "./row-cases.ts";
import { splitAmountByWeights, splitMenuRow, splitProductRow } from "./split-rows.ts";

const restaurant = generateRestaurant("split");
const [room] = restaurant.rooms;
const [operator] = restaurant.clerks;
if (!room || !operator) throw new Error("The restaurant is empty");
const random = new SeededRandom("split");
const context = { random, restaurant, room, operator, times: computeTimesOfSimulatedOrder(0, 3_600_000) };

function sumRowTotals(rows: readonly PosOrderProductRow[]) {
  return {
    totalRowWithModifier: sumFieldOfRows(rows, "totalRowWithModifier"),
    totalDiscount: sumFieldOfRows(rows, "totalDiscount"),
    totalRow: sumFieldOfRows(rows, "totalRow"),
  };
}

const withModifiers = restaurant.products.find(
  ({ modifierGroups }) => modifierGroups.length > 0,
) as GeneratedRestaurantProduct;

describe("splitProductRowOverBills", () => {
  it("keeps the sum of all amounts, with modifiers and a discount", () => {
    for (const discount of restaurant.discounts) {
      for (const shares of [
        [1, 1],
        [2, 3],
        [1, 1, 1],
        [7, 2, 4, 1],
      ]) {
        const modifiers = chooseRandomProductModifiers(context, withModifiers);
        const whole = generateProductRow(context, { product: withModifiers, modifiers, quantity: 3 });
        const row = applyDiscountToProductRow(context, whole, discount);
        const parts = splitProductRow(context, row, shares);
        expect(sumRowTotals(parts)).toEqual(sumRowTotals([row]));
        for (const part of parts) expect(part.taxableAmount + part.taxAmount).toBe(part.totalRow);
      }
    }
  });

  it("keeps the id and quantity of the original row, whose children are the other parts", () => {
    const row = generateProductRow(context, { product: withModifiers, quantity: 2 });
    const [original, ...children] = splitProductRow(context, row, [1, 1, 1]);
    expect(original).toMatchObject({ id: row.id, parentProductRowId: null, quantity: 2 });
    expect(children.map((child) => child.parentProductRowId)).toEqual([row.id, row.id]);
    expect(new Set([original, ...children].map((part) => part?.id)).size).toBe(3);
  });

  it("groups the discounts of the parts", () => {
    const row = applyDiscountToProductRow(
      context,
      generateProductRow(context, { product: withModifiers }),
      restaurant.gift,
    );
    const groups = splitProductRow(context, row, [1, 2]).map((part) => part.discountRowList[0]?.discountGroupId);
    expect(groups[0]).toEqual(expect.any(String));
    expect(groups[1]).toBe(groups[0]);
  });
});

describe("splitMenuRowOverBills", () => {
  it("keeps the total, and links the products of each part to the part and to the original", () => {
    for (const menu of restaurant.menus) {
      const whole = generateSetMenuRow(context, menu);
      const [original, ...children] = splitMenuRow(context, whole, [2, 3, 4]);
      expect(sumFieldOfRows([original as typeof whole, ...children], "totalRow")).toBe(whole.totalRow);
      expect(original).toMatchObject({ id: whole.id, parentMenuRowId: null });
      for (const child of children) {
        expect(child.parentMenuRowId).toBe(whole.id);
        expect(child.productRowList.map((row) => row.menuRowId)).toEqual(whole.productRowList.map(() => child.id));
        expect(child.productRowList.map((row) => row.parentProductRowId)).toEqual(
          whole.productRowList.map((row) => row.id),
        );
      }
    }
  });
});

describe("splitAmountByWeights", () => {
  it("splits to the cent in proportion", () => {
    expect(splitAmountByWeights(1000, [1, 1, 1])).toEqual([333, 334, 333]);
    expect(splitAmountByWeights(690, [2, 3])).toEqual([276, 414]);
  });

  it("keeps the sum", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), weights, (amount, shares) => {
        expect(splitAmountByWeights(amount, shares).reduce((sum, part) => sum + part, 0)).toBe(amount);
      }),
    );
  });
});
