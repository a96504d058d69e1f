import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildTestOrder, buildTestTill, buildTestTillV1 } from "../testing/till-fixtures.ts";
import { tillValidators } from "./parse-till-body.ts";
import { createTaxRateWarning, isTaxRateInOtherUnit, RowValueCollector } from "./row-warnings.ts";

const warningsAbout = (...rates: number[]) => {
  const collector = new RowValueCollector<number>();
  for (const [index, rate] of rates.entries()) if (isTaxRateInOtherUnit(rate)) collector.add(rate, `rows[${index}]`);
  return collector.values.map(createTaxRateWarning);
};

describe("the warnings about tax rates", () => {
  it.each([
    [1000, "is probably in hundredths of a percent: to state 10%, send 10."],
    [550, "is probably in hundredths of a percent: to state 5.5%, send 5.5."],
    [210, "is probably in hundredths of a percent: to state 2.1%, send 2.1."],
    [0.055, "is probably a fraction: to state 5.5%, send 5.5."],
    [0.2, "is probably a fraction: to state 20%, send 20."],
  ])("name the unit of %s", (rate, expected) => {
    expect(warningsAbout(rate)).toMatchObject([{ code: "tax_rate_unit", message: expect.stringContaining(expected) }]);
  });

  it("name each rate once, with its first path and the number of rows", () => {
    const [warning, ...others] = warningsAbout(10, 1000, 1000, 1000);
    expect(others).toEqual([]);
    expect(warning).toMatchObject({ path: "rows[1]", message: expect.stringMatching(/ 3 rows have this rate\.$/) });
    expect(warningsAbout(...Array.from({ length: 500 }, (_, index) => 100 + index))).toHaveLength(20);
  });

  it("are empty for rates from 0.5% to 99%, and never for their fractions and hundredths", () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 4_900 }), (hundredths) => {
        expect(warningsAbout(hundredths / 100, 0)).toEqual([]);
        expect(warningsAbout(hundredths)).toHaveLength(1);
        expect(warningsAbout(hundredths / 10_000)).toHaveLength(1);
      }),
    );
  });
});

describe("the warnings about a till", () => {
  it("contain the paths of V2 rows, also in menus", () => {
    const order = buildTestOrder();
    const [row] = order.productRowList;
    if (!row) throw new Error("The test order has no row.");
    const [menu] = order.menuRowList;
    const orderList = [
      buildTestOrder(),
      {
        ...order,
        productRowList: [{ ...row, taxRate: 1000 }],
        menuRowList: menu ? [{ ...menu, productRowList: [{ ...row, taxRate: 0.1 }] }] : [],
      },
    ];
    const validated = tillValidators.V2(buildTestTill({ orderList }));
    const paths = "warnings" in validated ? validated.warnings.map(({ path }) => path) : undefined;
    expect(paths).toEqual([
      "orderList[1].productRowList[0].taxRate",
      ...(menu ? ["orderList[1].menuRowList[0].productRowList[0].taxRate"] : []),
    ]);
  });

  it("contain the paths of V1 items", () => {
    const till = buildTestTillV1();
    const [ticket] = till.tillJson.tickets;
    const [item] = ticket?.items ?? [];
    if (!ticket || !item) throw new Error("The test till has no item.");
    const wrong = { ...ticket, menus: [], items: [item, { ...item, price: { ...item.price, tax: 0.055 } }] };
    const validated = tillValidators.V1({ ...till, tillJson: { ...till.tillJson, tickets: [wrong] } });
    expect("warnings" in validated ? validated.warnings : undefined).toMatchObject([
      { path: "tillJson.tickets[0].items[1].price.tax", message: expect.stringContaining("send 5.5") },
    ]);
  });

  it("is an error that names the unit for a rate above 1000", () => {
    const order = buildTestOrder();
    const productRowList = order.productRowList.map((row) => ({ ...row, taxRate: 2_000 }));
    const validated = tillValidators.V2(buildTestTill({ orderList: [{ ...order, productRowList }] }));
    expect("issues" in validated ? validated.issues[0] : undefined).toMatchObject({
      ...{ path: "orderList[0].productRowList[0].taxRate", code: "too_big" },
      message: expect.stringContaining("in percent"),
    });
  });
});
