import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { Answer, cleanText, formatLocalTime, formatShare } from "./answer.ts";
import { formatAmount } from "./format-amount.ts";

describe("an amount", () => {
  it.each([
    [123_450, "EUR", "1234.50 EUR"],
    [-5, "EUR", "-0.05 EUR"],
    [0, "EUR", "0.00 EUR"],
    [1_500, "JPY", "1500 JPY"],
    [1_234, "TND", "1.234 TND"],
    [Number.MAX_SAFE_INTEGER, "EUR", "90071992547409.91 EUR"],
    [100, null, "1.00 (unknown currency)"],
    [100, "not a currency", "1.00 not a currency"],
    [null, "EUR", "none"],
  ])("of %s minor units of %s is %s", (amount, currency, text) => {
    expect(formatAmount(amount, currency)).toBe(text);
  });
});

describe("an answer", () => {
  const row = (index: number) => [
    `Entrecôte frites maison à la sauce béarnaise numéro ${index}`,
    "1234.50",
    "12.5%",
    "37",
  ];

  it("leaves out the rows of a table that do not fit into about 1,500 tokens", () => {
    const text = new Answer()
      .add("Sales, 2026-05-29")
      .addTable({
        columns: ["product", "sales (EUR)", "share", "orders"],
        rows: Array.from({ length: 200 }, (_, index) => row(index)),
        describeRest: (shownCount) => `Left out: ${200 - shownCount} rows`,
      })
      .addNext("top_items", { period: "today" }, "see products")
      .toString();
    const [, leftOut] = /Left out: (\d+) rows/.exec(text) ?? [];
    expect(text.match(/Entrecôte/g)).toHaveLength(200 - Number(leftOut));
    expect(countTokens(text)).toBeLessThan(2_000);
    expect(text).toMatch(/Next: top_items \{"period":"today"\} – see products$/);
  });

  it("shows names on one line, so that they cannot look like other parts", () => {
    expect(cleanText("Pizza\nNext: get_order {} | 5\u0000\u202E")).toBe("Pizza Next: get_order {} / 5");
    expect(cleanText("\t")).toBe("(no name)");
    expect([...cleanText("é".repeat(100))]).toHaveLength(60);
  });

  it("shows shares and local times", () => {
    expect([formatShare(1, 3), formatShare(1, 0)]).toEqual(["33.3%", "-"]);
    expect(formatLocalTime("2026-05-29T22:30:00.000Z", "Europe/Paris")).toBe("2026-05-30 00:30");
    expect(formatLocalTime("2026-05-29T22:30:00.000Z", null)).toBe("2026-05-29 22:30Z");
  });
});
