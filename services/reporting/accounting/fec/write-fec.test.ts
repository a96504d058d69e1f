import { currencyCodes, getCurrencyDecimals } from "@pragma/contracts/currency";
import fc from "fast-check";
import iconv from "iconv-lite";
import { describe, expect, it } from "vitest";
import { buildFecFileName, encodeFecHeader, fecFileFormatsByProvider } from "./file-formats.ts";
import { encodeFecRows, type FecRow, toCharset, toFecRows } from "./write-fec.ts";

const line = {
  account: "70610",
  label: "Ventes",
  auxiliary: null,
  text: "Caisse Z24 Ventes",
  debit: 0,
  credit: 123456,
};
const journal = { journalCode: "CA", journalLabel: "Caisse", currency: "EUR" };

function createRows(fields: Partial<typeof line> = {}, { currency = "EUR" } = {}): FecRow[] {
  const entry = {
    day: "2026-05-29",
    validatedOn: "2026-05-30",
    documentReference: "Z24",
    lines: [{ ...line, ...fields }],
  };
  return toFecRows([entry, entry], { ...journal, currency });
}

describe("FEC rows", () => {
  it("have dates without hyphens, amounts with a decimal comma, and entry numbers", () => {
    const [first, second] = createRows();
    expect(first).toMatchObject({
      EcritureNum: "1",
      EcritureDate: "20260529",
      PieceDate: "20260529",
      ValidDate: "20260530",
      Debit: "0,00",
      Credit: "1234,56",
    });
    expect(second).toMatchObject({ EcritureNum: "2" });
    expect(createRows({ credit: 5 })[0]?.Credit).toBe("0,05");
  });

  it.each([
    ["XPF", 1_400, "1400", "0"],
    ["TND", 8_520, "8,520", "0,000"],
    ["CHF", 8_520, "85,20", "0,00"],
    ["IQD", 5, "0,005", "0,000"],
  ])("have the decimals of %s", (currency, credit, text, zero) => {
    expect(createRows({ credit }, { currency })[0]).toMatchObject({ Debit: zero, Credit: text });
  });

  it("have the decimals of every currency, and lose no digit", () => {
    fc.assert(
      fc.property(fc.constantFrom(...currencyCodes), fc.nat(Number.MAX_SAFE_INTEGER), (currency, credit) => {
        const { Debit, Credit } = createRows({ credit }, { currency })[0] ?? expect.unreachable();
        const [whole = "", fraction = ""] = Credit.split(",");
        expect(fraction).toHaveLength(getCurrencyDecimals(currency) ?? -1);
        expect(Number(whole + fraction)).toBe(credit);
        expect(Debit.replace(",", "")).toMatch(/^0+$/);
      }),
    );
  });

  it("replace separators and line breaks in names", () => {
    const bytes = encodeFecRows(createRows({ text: "Bon\td'achat | café\r\n-10 %" }), fecFileFormatsByProvider.FULLL);
    const lines = bytes.toString("latin1").split("\r\n");
    expect(lines).toHaveLength(3);
    expect(lines[0]?.split("\t")).toHaveLength(18);
    expect(lines[0]).toContain("Bon d'achat café -10 %");
  });

  it.each([
    ["FULLL", "Midi ｜ soir", "Midi soir"],
    ["ISACOMPTA", "Midi ｜ soir", "Midi soir"],
    ["ISACOMPTA", "€".repeat(30), "EUR".repeat(10)],
    ["ISACOMPTA", `${"œ".repeat(15)}x`, "oe".repeat(15)],
    ["FULLL", "ﷺ".repeat(300), "?".repeat(200)],
    ["FULLL", "…".repeat(100), ".".repeat(200)],
    ["FULLL", "\u{1d15e}´x", "? x"],
    ["FULLL", '"Menu" du jour', "'Menu' du jour"],
    ["FULLL", "\u200b\u{e0001}", "?"],
    ["FULLL", "\u3000", "?"],
  ] as const)("have separators and lengths of %s that hold after encoding %j", (provider, text, expected) => {
    const format = fecFileFormatsByProvider[provider];
    const [written] = encodeFecRows(createRows({ text, label: text }), format)
      .toString("latin1")
      .split("\r\n");
    const fields = written?.split(format.separator);
    expect(fields).toHaveLength(18);
    expect([fields?.[5], fields?.[10]]).toEqual([expected, expected]);
  });

  it("have short texts without accents for ISACOMPTA", () => {
    const text = "Caisse Z24 Commandes annulées déjà payées";
    const bytes = encodeFecRows(createRows({ text }), fecFileFormatsByProvider.ISACOMPTA);
    expect(bytes.toString("ascii").split("\r\n")[0]?.split("|")[10]).toBe("Caisse Z24 Commandes annulees");
  });
});

it("writes 18 column names in the first line", () => {
  expect(encodeFecHeader(fecFileFormatsByProvider.ISACOMPTA).toString("ascii")).toMatch(/^JournalCode(\|\w+){17}\r\n$/);
});

describe("toCharset", () => {
  it.each([
    ["Œuf à 5 €", "ISO-8859-15", "\xbcuf \xe0 5 \xa4"],
    ["Œuf à 5 €", "US-ASCII", "OEuf a 5 EUR"],
    ["l’été – Čapek", "ISO-8859-15", "l'\xe9t\xe9 - Capek"],
    ["e\u0301", "ISO-8859-15", "\xe9"],
    ["« Øl » n° 5\u2028à\u0085Łódź", "US-ASCII", '" Ol " no 5 a Lodz'],
    ["« Øl » n° 5\u2028à\u0085Łódź", "ISO-8859-15", "\xab \xd8l \xbb n\xb0 5 \xe0 L\xf3dz"],
    ["−5 ′ • Straße", "US-ASCII", "-5 ' - Strasse"],
    ["寿司 🍣", "ISO-8859-15", "?? ?"],
    ["Caf\ufffd", "US-ASCII", "Caf?"],
    ["Caf\ufffd", "ISO-8859-15", "Caf?"],
    ["Cafe\u{1f469}\u200d\u{1f373} \u2615\ufe0f\u200b\u00ad", "ISO-8859-15", "Cafe?? ?"],
  ] as const)("encodes %s in %s", (text, charset, expected) => {
    expect(iconv.encode(toCharset(text, charset), charset).toString("latin1")).toBe(expected);
  });
});

describe("the name of a FEC file", () => {
  it.each([
    ["123 456 789 00012", "123456789FEC20260529.txt"],
    ["123456789", "123456789FEC20260529.txt"],
    ["", "FEC20260529.txt"],
    ["12345", "FEC20260529.txt"],
    ["123456789/../x", "FEC20260529.txt"],
  ])("begins with the SIREN of the SIRET %j if it is valid", (siret, name) => {
    expect(buildFecFileName({ siret, lastDay: "2026-05-29" })).toBe(name);
  });
});
