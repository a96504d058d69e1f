import { expect, it } from "vitest";
import { createOrderMatcher, parseAmount } from "./search-orders.ts";

it.each([
  ["12.50", "EUR", 1250],
  ["12,5", "EUR", 1250],
  ["€12", "EUR", 1200],
  ["-3.10", "EUR", -310],
  ["1200", "JPY", 1200],
  ["12.5", "JPY", null],
  ["Terrace", "EUR", null],
])("reads the amount %s in %s", (amount, currency, minorUnits) => {
  expect(parseAmount(amount, currency)).toBe(minorUnits);
});

it("finds an order by its table, its total and the beginning of its ID", () => {
  const order = { id: "5529b583-5d06-4005-ab83-6b2fe7f1ace0", orderNumber: "T12", total: 1250 };
  const finds = (text: string) => createOrderMatcher(text, "EUR")(order);
  expect(["t12", "12.50", "5529b583", "T1", "12.51", "5529"].map(finds)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});
