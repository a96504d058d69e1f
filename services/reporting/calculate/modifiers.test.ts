import { expect, test } from "vitest";
import { compute } from "../testing/compute.ts";
import { makeMenu, makeModifier, makeOrder, makeRow } from "../testing/make-till.ts";

function modifiersOf(...rows: Parameters<typeof makeRow>[0][]) {
  return compute([makeOrder({ productRowList: rows.map((row) => makeRow(row)) })]).reportV2.reportModifiers;
}

test("counts the products that had it, and what it added to each of them", () => {
  expect(modifiersOf({ quantity: 3, weight: 0.5, modifierRowList: [makeModifier()] })).toEqual([
    { groupName: "Suppléments", name: "Bacon", quantity: 3, amount: 450 },
  ]);
});

test("one that was chosen twice for a product counts twice", () => {
  expect(modifiersOf({ quantity: 2, modifierRowList: [makeModifier(), makeModifier()] })[0]).toMatchObject({
    quantity: 4,
    amount: 600,
  });
});

test("the child of a split bill adds its amount and no quantity", () => {
  const child = { parentProductRowId: "parent", modifierRowList: [makeModifier()] };
  expect(modifiersOf({ modifierRowList: [makeModifier()] }, child)[0]).toMatchObject({ quantity: 1, amount: 300 });
  expect(modifiersOf(child)[0]).toMatchObject({ quantity: 1, amount: 150 });
});

test("a free modifier of a child alone is left out", () => {
  expect(modifiersOf({ parentProductRowId: "parent", modifierRowList: [makeModifier({ amount: 0 })] })).toEqual([]);
});

test("a free modifier is listed with its quantity", () => {
  expect(modifiersOf({ modifierRowList: [makeModifier({ amount: 0 })] })[0]).toMatchObject({ quantity: 1, amount: 0 });
});

test("a refund takes back what the modifier added", () => {
  expect(modifiersOf({ quantity: -2, modifierRowList: [makeModifier()] })[0]).toMatchObject({
    quantity: 1,
    amount: -300,
  });
});

test("groups and names that are null are values of their own", () => {
  const rows = [
    makeModifier({ name: null }),
    makeModifier({ modifierGroupName: null }),
    makeModifier({ name: "null" }),
  ];
  expect(modifiersOf({ modifierRowList: rows })).toHaveLength(3);
});

test("modifiers of products in menus count", () => {
  const menu = makeMenu({ productRowList: [makeRow({ modifierRowList: [makeModifier()] })] });
  expect(compute([makeOrder({ menuRowList: [menu] })]).reportV2.reportModifiers).toHaveLength(1);
});
