import fc from "fast-check";
import { expect, it } from "vitest";
import { currencyCodes, getCurrencyDecimals } from "../../../contracts/currency.ts";
import { formatCurrencyAmount } from "./format-amount.ts";

it("shows amounts of every currency with the decimals of ISO 4217, and loses no digit", () => {
  fc.assert(
    fc.property(fc.constantFrom(...currencyCodes), fc.nat(Number.MAX_SAFE_INTEGER), (currency, amount) => {
      const [, whole = "", fraction = ""] = /([\d,]+)(?:\.(\d+))?$/.exec(formatCurrencyAmount(amount, currency)) ?? [];
      expect(fraction).toHaveLength(getCurrencyDecimals(currency) ?? -1);
      expect(Number(whole.replaceAll(",", "") + fraction)).toBe(amount);
    }),
  );
});
