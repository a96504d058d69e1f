import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { currencyCodes, formatDecimalAmount, getCurrencyDecimals } from "../../../contracts/currency.ts";

it("the guide lists the currencies whose decimals are not two", () => {
  const guide = readFileSync(new URL("../../docs/requests.mdx", import.meta.url), "utf8");
  for (const decimals of [0, 3, 4]) {
    const [, codes = "", shown] =
      new RegExp(`\\| ((?:\`[A-Z]{3}\` ?)+)\\| ${decimals} \\| ([\\d.]+) \\|`).exec(guide) ?? [];
    const listed = [...codes.matchAll(/[A-Z]{3}/g)].map(([code]) => code);
    // Codes without a minor unit, which begin with X as all codes of no country, have a row of their own.
    const withoutMinorUnit = [
      "XAG",
      "XAU",
      "XBA",
      "XBB",
      "XBC",
      "XBD",
      "XDR",
      "XPD",
      "XPT",
      "XSU",
      "XTS",
      "XUA",
      "XXX",
    ];
    const expected = currencyCodes.filter(
      (code) => getCurrencyDecimals(code) === decimals && !withoutMinorUnit.includes(code),
    );
    expect(listed).toEqual(expected);
    expect(formatDecimalAmount(1_400, listed[0] ?? null)).toBe(shown);
  }
});
