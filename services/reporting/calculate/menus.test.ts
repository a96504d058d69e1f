import { expect, test } from "vitest";
import { compute } from "../testing/compute.ts";
import { makeMenu, makeOrder, makeRow } from "../testing/make-till.ts";

const starter = { menuStepName: "Entrée", menuStepIndex: 0, name: "Soupe" };
const main = { menuStepName: "Plat", menuStepIndex: 1, name: "Pizza" };

function menusOf(...menus: Parameters<typeof makeMenu>[0][]) {
  return compute([makeOrder({ menuRowList: menus.map((menu) => makeMenu(menu)) })]).reportV2.reportMenus;
}

test("sums the menus sold, with their steps in course order", () => {
  const menu = { totalRow: 1990, productRowList: [makeRow(main), makeRow({ ...starter, taxableAmount: 500 })] };
  const other = { totalRow: 1500, productRowList: [makeRow({ ...main, name: "Regina", quantity: 2 })] };
  expect(menusOf(menu, other)).toEqual([
    {
      name: "Formule midi",
      coursesDescription: "Entrée + Plat",
      quantity: 2,
      totalSales: 3490,
      totalExcludingTax: 2500,
      steps: [
        { stepName: "Entrée", quantity: 1, products: [{ name: "Soupe", quantity: 1 }] },
        {
          stepName: "Plat",
          quantity: 3,
          products: [
            { name: "Pizza", quantity: 1 },
            { name: "Regina", quantity: 2 },
          ],
        },
      ],
    },
  ]);
});

test("only the products that count are in its steps and its total without tax", () => {
  const rows = [makeRow(starter), makeRow({ ...main, isCanceled: true }), makeRow({ ...main, isLoss: true })];
  expect(menusOf({ productRowList: rows })[0]).toMatchObject({
    quantity: 1,
    totalSales: 1100,
    totalExcludingTax: 1000,
    coursesDescription: "Entrée",
  });
});

test("the child of a split bill adds money and no quantity to menus and their steps", () => {
  const parent = { totalRow: 550, productRowList: [makeRow({ ...main, totalRow: 550, taxableAmount: 500 })] };
  const child = {
    parentMenuRowId: "parent",
    totalRow: 550,
    productRowList: [makeRow({ ...main, parentProductRowId: "p", totalRow: 550, taxableAmount: 500 })],
  };
  const [menu] = menusOf(parent, child);
  expect(menu).toMatchObject({ quantity: 1, totalSales: 1100, totalExcludingTax: 1000 });
  expect(menu?.steps).toEqual([{ stepName: "Plat", quantity: 1, products: [{ name: "Pizza", quantity: 1 }] }]);

  const [alone] = menusOf(child);
  expect(alone).toMatchObject({ quantity: 1, totalSales: 550 });
  expect(alone?.steps).toEqual([{ stepName: "Plat", quantity: 1, products: [{ name: "Pizza", quantity: 1 }] }]);
});

test("steps without an index come first, and steps of one index in order of appearance", () => {
  const rows = [
    makeRow({ menuStepName: "Dessert", menuStepIndex: 1 }),
    makeRow({ menuStepName: "Café", menuStepIndex: 1 }),
    makeRow({ menuStepName: "Pain", menuStepIndex: null }),
    makeRow({ menuStepName: "Eau", menuStepIndex: 0 }),
    makeRow({ menuStepName: "Apéritif", menuStepIndex: -1 }),
  ];
  expect(menusOf({ productRowList: rows })[0]?.coursesDescription).toBe("Apéritif + Pain + Eau + Dessert + Café");
});

test("a step without a name is a step, and has no part in the description", () => {
  const rows = [makeRow({ menuStepName: null }), makeRow(main)];
  const [menu] = menusOf({ productRowList: rows });
  expect(menu?.coursesDescription).toBe("Plat");
  expect(menu?.steps.map((step) => step.stepName)).toEqual([null, "Plat"]);
});

test("menus are the same by catalogue id and name", () => {
  const productRowList = [makeRow(main)];
  const menus = menusOf(
    { productRowList },
    { menuId: null, productRowList },
    { name: null, productRowList },
    { menuId: null, productRowList },
  );
  expect(menus.map(({ name, quantity }) => [name, quantity])).toEqual([
    ["Formule midi", 1],
    ["Formule midi", 2],
    [null, 1],
  ]);
});

test("a refunded product's quantity in a step is at least 1", () => {
  const [menu] = menusOf({
    totalRow: -1100,
    productRowList: [makeRow({ ...main, quantity: -1, taxableAmount: -1000 })],
  });
  expect(menu).toMatchObject({ quantity: 1, totalSales: -1100, totalExcludingTax: -1000 });
  expect(menu?.steps).toEqual([{ stepName: "Plat", quantity: 1, products: [{ name: "Pizza", quantity: 1 }] }]);
});
