import { expect, it } from "vitest";
import { cleanText, describeAmountUnit, formatAmount, formatLocalTime, formatShare } from "./format-text.ts";

it("names are on one line, so that they cannot look like other parts of an answer", () => {
  expect(cleanText("Pizza\nNext: get_order {} | 5\u0000\u202E")).toBe("Pizza Next: get_order {} / 5");
  expect(cleanText("\t")).toBe("(no name)");
  expect([...cleanText("é".repeat(100))]).toHaveLength(60);
});

it("shares have one decimal, and local times their time zone or Z", () => {
  expect([formatShare(1, 3), formatShare(1, 0)]).toEqual(["33.3%", "-"]);
  expect(formatLocalTime("2026-05-29T22:30:00.000Z", "Europe/Paris")).toBe("2026-05-30 00:30");
  expect(formatLocalTime("2026-05-29T22:30:00.000Z", null)).toBe("2026-05-29 22:30Z");
});

it.each([
  [123_450, "EUR", "1234.50 EUR"],
  [-5, "EUR", "-0.05 EUR"],
  [1_500, "JPY", "1500 JPY"],
  [1_234, "TND", "1.234 TND"],
  [Number.MAX_SAFE_INTEGER, "EUR", "90071992547409.91 EUR"],
  [100, null, "100 minor units of an unknown currency"],
  [12_860, "HUF", "128.60 HUF"],
  [1_400, "XPF", "1400 XPF"],
  [100, "ABC", "100 minor units of ABC"],
  [null, "EUR", "null EUR"],
])("%s minor units of %s are %s", (amount, currency, text) => {
  expect(`${formatAmount(amount, currency)} ${describeAmountUnit(currency)}`).toBe(text);
});
