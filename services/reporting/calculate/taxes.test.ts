import { expect, test } from "vitest";
import { compute } from "../testing/compute.ts";
import { makeOrder, makeRow } from "../testing/make-till.ts";

function taxesOf(...rows: Parameters<typeof makeRow>[0][]) {
  return compute([makeOrder({ productRowList: rows.map((row) => makeRow(row)) })]).reportV2.reportTaxes;
}

test("sums the declared tax by name and rate, with the catalogue id of the first row", () => {
  expect(taxesOf({ taxId: "first", taxAmount: 101 }, { taxId: "second", taxAmount: 7 })).toEqual([
    { taxName: "TVA 10%", taxRate: 1000, taxAmount: 108, taxableAmount: 2000, taxCatalogId: "first" },
  ]);
});

test("one rate under two names is two taxes, and one name at two rates", () => {
  const names = taxesOf({}, { taxName: "Réduit" }, { taxName: null }, { taxRate: 5.5 }, { taxName: null, taxId: null });
  expect(names.map(({ taxName, taxRate, taxCatalogId }) => [taxName, taxRate, taxCatalogId])).toEqual([
    ["TVA 10%", 1000, "ten"],
    ["Réduit", 1000, "ten"],
    [null, 1000, "ten"],
    ["TVA 10%", 550, "ten"],
  ]);
});

test("a tax of nothing is listed, because it has no quantity to leave it out by", () => {
  expect(taxesOf({ totalRow: 0, taxAmount: 0, taxableAmount: 0 })).toHaveLength(1);
});

test("rates are hundredths of a percent, rounded half away from zero", () => {
  expect(taxesOf({ taxRate: 8.875 }, { taxRate: 19.6 }, { taxRate: 0 }).map((tax) => tax.taxRate)).toEqual([
    888, 1960, 0,
  ]);
});
