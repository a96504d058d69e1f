import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { currencyCodes, formatDecimalAmount, getCurrencyDecimals, withdrawnCurrencies } from "./currency.ts";

const anyCurrency = fc.constantFrom(...currencyCodes, ...Object.keys(withdrawnCurrencies));
const anyAmount = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -2_000, max: 2_000 }));

describe("the list of currencies", () => {
  it("has the codes and minor units of ISO 4217", () => {
    const countByDecimals = new Map<number | undefined, number>();
    for (const code of currencyCodes) {
      const decimals = getCurrencyDecimals(code);
      countByDecimals.set(decimals, (countByDecimals.get(decimals) ?? 0) + 1);
    }
    // The list of 2026-09-17 has 17 currencies without decimals, and 13 codes without a minor unit.
    expect(countByDecimals).toEqual(
      new Map([
        [2, 139],
        [0, 17 + 13],
        [3, 7],
        [4, 2],
      ]),
    );
    expect(new Set(currencyCodes).size).toBe(178);
    expect(currencyCodes).toContain("XAD");
  });

  it.each(["BGN", "HRK", "ANG", "CUC", "SLL", "ZWL"])("contains %s only with the date of its withdrawal", (code) => {
    expect(currencyCodes).not.toContain(code);
    expect(withdrawnCurrencies[code]?.withdrawnIn).toMatch(/^20\d\d-(0[1-9]|1[0-2])$/);
    expect(getCurrencyDecimals(code)).toBe(2);
  });

  it("does not have the decimals of Intl, which are rounded to cash and differ between releases of Node.js", () => {
    const codes = ["HUF", "COP", "LBP", "ALL", "MGA", "IDR", "PKR", "IQD"];
    expect(codes.map(getCurrencyDecimals)).toEqual([2, 2, 2, 2, 2, 2, 2, 3]);
  });
});

describe("an amount", () => {
  it.each([
    [123_450, "EUR", "1234.50"],
    [-5, "EUR", "-0.05"],
    [0, "EUR", "0.00"],
    [-0, "TND", "0.000"],
    [12_860, "HUF", "128.60"],
    [1_400, "XPF", "1400"],
    [8_520, "TND", "8.520"],
    [1_234, "IQD", "1.234"],
    [12_345, "CLF", "1.2345"],
    [195, "BGN", "1.95"],
    [100, "XXX", "100"],
    [100, "ABC", "100"],
    [100, "toString", "100"],
    [100, null, "100"],
    [Number.MIN_SAFE_INTEGER, "EUR", "-90071992547409.91"],
  ])("of %s minor units of %s is %s", (amount, currency, text) => {
    expect(formatDecimalAmount(amount, currency)).toBe(text);
  });

  it("of any currency has the decimals of the currency, and no digit is lost or moved", () => {
    fc.assert(
      fc.property(anyAmount, anyCurrency, fc.constantFrom(".", ","), (amount, currency, separator) => {
        const text = formatDecimalAmount(amount, currency, separator);
        const [whole = "", fraction = ""] = text.split(separator);
        expect(fraction).toHaveLength(getCurrencyDecimals(currency) ?? -1);
        expect(whole).toMatch(/^-?(0|[1-9]\d*)$/);
        expect(BigInt(whole + fraction)).toBe(BigInt(amount));
      }),
    );
  });
});
