import { describe, expect, it } from "vitest";
import { formatAmount } from "./format-amount.ts";

describe("an amount", () => {
  it.each([
    [123_450, "EUR", "1234.50 EUR"],
    [-5, "EUR", "-0.05 EUR"],
    [0, "EUR", "0.00 EUR"],
    [1_500, "JPY", "1500 JPY"],
    [1_234, "TND", "1.234 TND"],
    [Number.MAX_SAFE_INTEGER, "EUR", "90071992547409.91 EUR"],
    [100, null, "100 minor units of an unknown currency"],
    [12_860, "HUF", "128.60 HUF"],
    [1_400, "XPF", "1400 XPF"],
    [1_234, "IQD", "1.234 IQD"],
    [100, "ABC", "100 minor units of ABC"],
    [null, "EUR", "none"],
  ])("of %s minor units of %s is %s", (amount, currency, text) => {
    expect(formatAmount(amount, currency)).toBe(text);
  });
});
