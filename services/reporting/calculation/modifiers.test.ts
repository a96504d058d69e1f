import { expect, test } from "vitest";
import { computeTestReport } from "../testing/compute-test-report.ts";
import {
  createTestMenuRow,
  createTestModifierRow,
  createTestOrder,
  createTestProductRow,
} from "../testing/till-fixtures.ts";

function computeModifiers(...rows: Parameters<typeof createTestProductRow>[0][]) {
  return computeTestReport([createTestOrder({ productRowList: rows.map((row) => createTestProductRow(row)) })]).reportV2
    .reportModifiers;
}

test("counts the products that had it, and what it added to each of them", () => {
  expect(computeModifiers({ quantity: 3, weight: 0.5, modifierRowList: [createTestModifierRow()] })).toEqual([
    { groupName: "Suppléments", name: "Bacon", quantity: 3, amount: 450 },
  ]);
});

test("one that was chosen twice for a product counts twice", () => {
  expect(
    computeModifiers({ quantity: 2, modifierRowList: [createTestModifierRow(), createTestModifierRow()] })[0],
  ).toMatchObject({
    quantity: 4,
    amount: 600,
  });
});

test("the child of a split bill adds its amount and no quantity", () => {
  const child = { parentProductRowId: "parent", modifierRowList: [createTestModifierRow()] };
  expect(computeModifiers({ modifierRowList: [createTestModifierRow()] }, child)[0]).toMatchObject({
    quantity: 1,
    amount: 300,
  });
  expect(computeModifiers(child)[0]).toMatchObject({ quantity: 1, amount: 150 });
});

test("a free modifier of a child alone is left out", () => {
  expect(
    computeModifiers({ parentProductRowId: "parent", modifierRowList: [createTestModifierRow({ amount: 0 })] }),
  ).toEqual([]);
});

test("a free modifier is listed with its quantity", () => {
  expect(computeModifiers({ modifierRowList: [createTestModifierRow({ amount: 0 })] })[0]).toMatchObject({
    quantity: 1,
    amount: 0,
  });
});

test("a refund takes back what the modifier added", () => {
  expect(computeModifiers({ quantity: -2, modifierRowList: [createTestModifierRow()] })[0]).toMatchObject({
    quantity: 1,
    amount: -300,
  });
});

test("groups and names that are null are values of their own", () => {
  const rows = [
    createTestModifierRow({ name: null }),
    createTestModifierRow({ modifierGroupName: null }),
    createTestModifierRow({ name: "null" }),
  ];
  expect(computeModifiers({ modifierRowList: rows })).toHaveLength(3);
});

test("modifiers of products in menus count", () => {
  const menu = createTestMenuRow({
    productRowList: [createTestProductRow({ modifierRowList: [createTestModifierRow()] })],
  });
  expect(computeTestReport([createTestOrder({ menuRowList: [menu] })]).reportV2.reportModifiers).toHaveLength(1);
});
