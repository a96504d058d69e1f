import { expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import {
  buildTestOrder,
  buildTestOrderMenuRow,
  buildTestOrderModifierRow,
  buildTestOrderProductRow,
} from "../testing/till-fixtures.ts";

function computeModifiers(...rows: Parameters<typeof buildTestOrderProductRow>[0][]) {
  return computeTestTillReport([buildTestOrder({ productRowList: rows.map((row) => buildTestOrderProductRow(row)) })])
    .reportV2.reportModifiers;
}

test("sums the quantity of products with a modifier, and the modifier's amount for each product", () => {
  expect(computeModifiers({ quantity: 3, weight: 0.5, modifierRowList: [buildTestOrderModifierRow()] })).toEqual([
    { groupName: "Suppléments", name: "Bacon", quantity: 3, amount: 450 },
  ]);
});

test("counts a modifier twice if it was chosen twice for a product", () => {
  expect(
    computeModifiers({ quantity: 2, modifierRowList: [buildTestOrderModifierRow(), buildTestOrderModifierRow()] })[0],
  ).toMatchObject({
    quantity: 4,
    amount: 600,
  });
});

test("adds the amount but no quantity of the child of a split bill", () => {
  const child = { parentProductRowId: "parent", modifierRowList: [buildTestOrderModifierRow()] };
  expect(computeModifiers({ modifierRowList: [buildTestOrderModifierRow()] }, child)[0]).toMatchObject({
    quantity: 1,
    amount: 300,
  });
  expect(computeModifiers(child)[0]).toMatchObject({ quantity: 1, amount: 150 });
});

test("omits a free modifier that only the child of a split bill has", () => {
  expect(
    computeModifiers({ parentProductRowId: "parent", modifierRowList: [buildTestOrderModifierRow({ amount: 0 })] }),
  ).toEqual([]);
});

test("lists a free modifier with its quantity", () => {
  expect(computeModifiers({ modifierRowList: [buildTestOrderModifierRow({ amount: 0 })] })[0]).toMatchObject({
    quantity: 1,
    amount: 0,
  });
});

test("subtracts the modifier amount of a refund", () => {
  expect(computeModifiers({ quantity: -2, modifierRowList: [buildTestOrderModifierRow()] })[0]).toMatchObject({
    quantity: 1,
    amount: -300,
  });
});

test("treats null as a distinct group and name", () => {
  const rows = [
    buildTestOrderModifierRow({ name: null }),
    buildTestOrderModifierRow({ modifierGroupName: null }),
    buildTestOrderModifierRow({ name: "null" }),
  ];
  expect(computeModifiers({ modifierRowList: rows })).toHaveLength(3);
});

test("counts modifiers of products in menus", () => {
  const menu = buildTestOrderMenuRow({
    productRowList: [buildTestOrderProductRow({ modifierRowList: [buildTestOrderModifierRow()] })],
  });
  expect(computeTestTillReport([buildTestOrder({ menuRowList: [menu] })]).reportV2.reportModifiers).toHaveLength(1);
});
