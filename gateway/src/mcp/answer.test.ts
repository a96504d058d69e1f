import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { Answer } from "./answer.ts";

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
});
