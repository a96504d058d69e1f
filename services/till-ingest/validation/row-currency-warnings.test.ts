import { describe, expect, it } from "vitest";
import { buildTestOrder, buildTestTill } from "../testing/till-fixtures.ts";
import { tillValidators } from "./parse-till-body.ts";
import { findCurrencyWarnings } from "./row-warnings.ts";

const currenciesOf = (till: object) => {
  const validated = tillValidators.V2(till);
  return "currencies" in validated ? validated.currencies : expect.unreachable();
};

describe("the currencies of the rows of a till", () => {
  it("are warnings if they are not the currency of the location", () => {
    const order = buildTestOrder();
    const inCurrency = (currencyCode: string) => ({
      ...buildTestOrder(),
      productRowList: order.productRowList.map((row) => ({ ...row, currencyCode })),
      paymentRowList: order.paymentRowList.map((row) => ({ ...row, currencyCode })),
    });
    const currencies = currenciesOf(buildTestTill({ orderList: [inCurrency("EUR"), inCurrency("XPF")] }));
    expect(findCurrencyWarnings(currencies, "EUR")).toEqual([
      {
        path: "orderList[1].productRowList[0].currencyCode",
        code: "other_currency",
        message: expect.stringMatching(/counts as EUR, not as XPF.* rows have this currency\.$/),
      },
    ]);
    expect(findCurrencyWarnings(currencies, "XPF").map(({ path }) => path)).toEqual([
      "orderList[0].productRowList[0].currencyCode",
    ]);
  });
});
