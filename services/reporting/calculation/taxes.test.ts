import { expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import { buildTestOrder, buildTestOrderProductRow } from "../testing/till-fixtures.ts";

function computeTaxes(...rows: Parameters<typeof buildTestOrderProductRow>[0][]) {
  return computeTestTillReport([buildTestOrder({ productRowList: rows.map((row) => buildTestOrderProductRow(row)) })])
    .reportV2.reportTaxes;
}

test("sums the declared tax by name and rate, with the catalog id of the first row", () => {
  expect(computeTaxes({ taxId: "first", taxAmount: 101 }, { taxId: "second", taxAmount: 7 })).toEqual([
    { taxName: "TVA 10%", taxRate: 1000, taxAmount: 108, taxableAmount: 2000, taxCatalogId: "first" },
  ]);
});

test("separates taxes that differ in name or rate", () => {
  const names = computeTaxes(
    {},
    { taxName: "Réduit" },
    { taxName: null },
    { taxRate: 5.5 },
    { taxName: null, taxId: null },
  );
  expect(names.map(({ taxName, taxRate, taxCatalogId }) => [taxName, taxRate, taxCatalogId])).toEqual([
    ["TVA 10%", 1000, "ten"],
    ["Réduit", 1000, "ten"],
    [null, 1000, "ten"],
    ["TVA 10%", 550, "ten"],
  ]);
});

test("lists a tax of 0", () => {
  expect(computeTaxes({ totalRow: 0, taxAmount: 0, taxableAmount: 0 })).toHaveLength(1);
});

test("converts rates to hundredths of a percent, rounded half away from zero", () => {
  expect(computeTaxes({ taxRate: 8.875 }, { taxRate: 19.6 }, { taxRate: 0 }).map((tax) => tax.taxRate)).toEqual([
    888, 1960, 0,
  ]);
});
