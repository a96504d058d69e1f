import { currencyCodes, formatDecimalAmount, getCurrencyDecimals } from "@pragma/client";
import * as contracts from "@pragma/contracts/currency";
import fc from "fast-check";
import { expect, it } from "vitest";

it("formats amounts of every currency as the API does", () => {
  expect(currencyCodes).toEqual(contracts.currencyCodes);
  fc.assert(
    fc.property(fc.constantFrom(...currencyCodes), fc.maxSafeInteger(), (currency, amount) => {
      expect(getCurrencyDecimals(currency)).toBe(contracts.getCurrencyDecimals(currency));
      expect(formatDecimalAmount(amount, currency)).toBe(contracts.formatDecimalAmount(amount, currency));
    }),
  );
});
