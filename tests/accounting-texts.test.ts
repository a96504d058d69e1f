import { randomUUID } from "node:crypto";
import { ReplaceAccountingConfigRequest } from "@pragma/contracts/accounting-config";
import { type AccountingProvider, accountingProviders } from "@pragma/contracts/accounting-export";
import { TillV2 } from "@pragma/contracts/till-v2";
import { encodeFecHeader, fecFileFormatsByProvider } from "@pragma/reporting/accounting/fec/file-formats";
import writeTillEntries from "@pragma/reporting/accounting/write-till-entries";
import { computeDocuments } from "@pragma/reporting/calculation/compute-report";
import { computeTillAccountingData } from "@pragma/reporting/calculation/settlement/till-accounting-data";
import { generateTill } from "@pragma/simulator/generate-till";
import fc from "fast-check";
import { describe, it } from "vitest";
import { parseAndValidateFecFile } from "./accounting/read-fec.ts";

/** The formats of the files as they are documented, so that an error in the format of the writer is found. */
const formats = {
  INEXWEB: { separator: "\t", charset: "iso-8859-15", maxTextLength: 200 },
  FULLL: { separator: "\t", charset: "iso-8859-15", maxTextLength: 200 },
  ISACOMPTA: { separator: "|", charset: "us-ascii", maxTextLength: 30 },
} as const;

/** Characters that become longer, separators, spaces or nothing in one of the character sets. */
const awkward = fc.constantFrom(
  ..."€œÆ…½№ﷺ｜＂|\t\n\r\u0085\u2028\u3000\u00a0\u00ad\u200b\ufeff´¨\u0301\ufe0f\u{1f469}\"'",
);
const unicodeText = (maxLength: number) =>
  fc
    .array(
      fc.oneof(fc.string({ unit: "binary", maxLength: 20 }), awkward, fc.string({ unit: "grapheme", maxLength: 20 })),
      {
        maxLength: 40,
      },
    )
    // Requests with lone surrogates or NUL are rejected.
    .map((parts) =>
      parts
        .join("")
        .slice(0, maxLength)
        .replaceAll(/\p{Cs}|\0/gu, ""),
    );
/** Labels of a config contain neither control characters nor |, and are not empty. */
const label = (maxLength: number) =>
  unicodeText(maxLength).map((text) => text.replaceAll(/[\p{Cc}|]/gu, "") || "\u200b");

const paid = generateTill({ seed: 1, orders: 12, day: "2026-05-29" });

/** Returns the bytes of a file with a till in which all names are `names`, by turns. */
function writeFile(
  provider: AccountingProvider,
  names: string[],
  labels: { journal: string; account: string; entry: string },
) {
  const nameAt = (index: number) => names[index % names.length] ?? "";
  const till = TillV2.parse({
    ...paid,
    orderList: paid.orderList.map((order, index) => ({
      ...order,
      paymentRowList: order.paymentRowList.map((row) => ({ ...row, name: nameAt(index) })),
    })),
    financialMovementList: names.map((name, index) => ({ type: "cash-in", amount: 100 + index, name })),
  });
  const report = computeDocuments(till, { locationId: randomUUID() })?.reportV2;
  const account = (number: string) => ({ account: number, label: labels.account });
  const config = ReplaceAccountingConfigRequest.parse({
    ...{ journalLabel: labels.journal, entryLabel: labels.entry, otherSales: account("706"), cashIn: account("580") },
    ...{ customerAuxiliary: { account: "CLI", label: labels.account }, payments: { cash: account("531") } },
  });
  const accountingData = computeTillAccountingData(till, (instant) => instant.slice(0, 10));
  const stored = { v2: JSON.stringify(report), accountingData: JSON.stringify(accountingData) };
  const written = writeTillEntries({
    stored,
    provider,
    config: JSON.stringify(config),
    currency: "EUR",
    entriesBefore: 0,
  });
  if (written.failure) throw new Error(JSON.stringify(written.failure));
  return Buffer.concat([encodeFecHeader(fecFileFormatsByProvider[provider]), written.lines]);
}

describe.each(accountingProviders)("files for %s with names over all of Unicode", (provider) => {
  it("have valid columns, separators, characters and lengths in their bytes", () => {
    const { maxTextLength, ...format } = formats[provider];
    const names = fc.array(unicodeText(1_024), { minLength: 1, maxLength: 5 });
    const labels = fc.record({ journal: label(100), account: label(100), entry: label(20) });
    fc.assert(
      fc.property(names, labels, (someNames, someLabels) => {
        const bytes = writeFile(provider, someNames, someLabels);
        parseAndValidateFecFile(bytes, format);
        const [, ...lines] = bytes.toString("latin1").split("\r\n").slice(0, -1);
        for (const line of lines) {
          for (const field of line.split(format.separator)) {
            if (field.length > maxTextLength) throw new Error(`${field.length} bytes in a field of ${line}`);
            if (/^\s|\s$|\s\s|["|]/.test(field)) throw new Error(`Not clean: ${JSON.stringify(field)} in ${line}`);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
