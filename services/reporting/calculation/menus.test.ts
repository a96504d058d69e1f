import { expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import { buildTestOrder, buildTestOrderMenuRow, buildTestOrderProductRow } from "../testing/till-fixtures.ts";

const starter = { menuStepName: "Entrée", menuStepIndex: 0, name: "Soupe" };
const main = { menuStepName: "Plat", menuStepIndex: 1, name: "Pizza" };

function computeMenus(...menus: Parameters<typeof buildTestOrderMenuRow>[0][]) {
  return computeTestTillReport([buildTestOrder({ menuRowList: menus.map((menu) => buildTestOrderMenuRow(menu)) })])
    .reportV2.reportMenus;
}

test("sums sold menus, with their steps in the order of courses", () => {
  const menu = {
    totalRow: 1990,
    productRowList: [buildTestOrderProductRow(main), buildTestOrderProductRow({ ...starter, taxableAmount: 500 })],
  };
  const other = {
    totalRow: 1500,
    productRowList: [buildTestOrderProductRow({ ...main, name: "Regina", quantity: 2 })],
  };
  expect(computeMenus(menu, other)).toEqual([
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

test("includes only sold products in steps and in the total without tax", () => {
  const rows = [
    buildTestOrderProductRow(starter),
    buildTestOrderProductRow({ ...main, isCanceled: true }),
    buildTestOrderProductRow({ ...main, isLoss: true }),
  ];
  expect(computeMenus({ productRowList: rows })[0]).toMatchObject({
    quantity: 1,
    totalSales: 1100,
    totalExcludingTax: 1000,
    coursesDescription: "Entrée",
  });
});

test("adds amounts but no quantities of the child of a split bill", () => {
  const parent = {
    totalRow: 550,
    productRowList: [buildTestOrderProductRow({ ...main, totalRow: 550, taxableAmount: 500 })],
  };
  const child = {
    parentMenuRowId: "parent",
    totalRow: 550,
    productRowList: [buildTestOrderProductRow({ ...main, parentProductRowId: "p", totalRow: 550, taxableAmount: 500 })],
  };
  const [menu] = computeMenus(parent, child);
  expect(menu).toMatchObject({ quantity: 1, totalSales: 1100, totalExcludingTax: 1000 });
  expect(menu?.steps).toEqual([{ stepName: "Plat", quantity: 1, products: [{ name: "Pizza", quantity: 1 }] }]);

  const [childOnly] = computeMenus(child);
  expect(childOnly).toMatchObject({ quantity: 1, totalSales: 550 });
  expect(childOnly?.steps).toEqual([{ stepName: "Plat", quantity: 1, products: [{ name: "Pizza", quantity: 1 }] }]);
});

test("treats a missing step index as 0, and keeps steps of equal index in order of appearance", () => {
  const rows = [
    buildTestOrderProductRow({ menuStepName: "Dessert", menuStepIndex: 1 }),
    buildTestOrderProductRow({ menuStepName: "Café", menuStepIndex: 1 }),
    buildTestOrderProductRow({ menuStepName: "Pain", menuStepIndex: null }),
    buildTestOrderProductRow({ menuStepName: "Eau", menuStepIndex: 0 }),
    buildTestOrderProductRow({ menuStepName: "Apéritif", menuStepIndex: -1 }),
  ];
  expect(computeMenus({ productRowList: rows })[0]?.coursesDescription).toBe("Apéritif + Pain + Eau + Dessert + Café");
});

test("lists a step without a name, but omits it from the description", () => {
  const rows = [buildTestOrderProductRow({ menuStepName: null }), buildTestOrderProductRow(main)];
  const [menu] = computeMenus({ productRowList: rows });
  expect(menu?.coursesDescription).toBe("Plat");
  expect(menu?.steps.map((step) => step.stepName)).toEqual([null, "Plat"]);
});

test("groups menus by catalog id and name", () => {
  const productRowList = [buildTestOrderProductRow(main)];
  const menus = computeMenus(
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

test("reports a quantity of at least 1 for a refunded product in a step", () => {
  const [menu] = computeMenus({
    totalRow: -1100,
    productRowList: [buildTestOrderProductRow({ ...main, quantity: -1, taxableAmount: -1000 })],
  });
  expect(menu).toMatchObject({ quantity: 1, totalSales: -1100, totalExcludingTax: -1000 });
  expect(menu?.steps).toEqual([{ stepName: "Plat", quantity: 1, products: [{ name: "Pizza", quantity: 1 }] }]);
});
