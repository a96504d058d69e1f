import { type AccountingRules, ReplaceAccountingConfigRequest } from "@pragma/contracts/accounting-config";
import type { AccountingProvider, TillAccountingExportFailure } from "@pragma/contracts/accounting-export";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillAccountingData } from "../calculation/settlement/till-accounting-data.ts";
import type { StoredTillData } from "../documents/queries/reports.ts";
import { fecFileFormatsByProvider } from "./fec/file-formats.ts";
import { encodeFecRows, toFecRows } from "./fec/write-fec.ts";
import { findInconsistentTillFigures } from "./find-inconsistent-till-figures.ts";
import {
  type AccountingJournalEntry,
  buildCashDifferenceEntryLines,
  buildCashMovementEntryLines,
  buildSalesEntryLines,
} from "./journal-entries.ts";

/** The input of the worker thread for one till. `stored` is undefined when the till has no report. */
export interface TillJournalEntriesWorkerInput {
  provider: AccountingProvider;
  config: string;
  stored: StoredTillData | undefined;
  /** The ISO 4217 code of the location's currency. */
  currency: string;
  entriesBefore: number;
}

/** The encoded lines of a till, to be appended to its file. */
export interface EncodedTillJournalEntries {
  lines: Uint8Array;
  entries: number;
  day: string;
  siret: string;
  failure: null;
}

/** The reason why a till cannot be exported. The export adds the day and the number of the report. */
export interface FailedTillAccountingExport {
  failure: Omit<TillAccountingExportFailure, "day" | "reportNumber">;
}

/** Runs in a worker thread, because encoding the many lines of a large till would block the event loop. */
export default function writeTillEntries(
  input: TillJournalEntriesWorkerInput,
): EncodedTillJournalEntries | FailedTillAccountingExport {
  const { stored, currency } = input;
  if (!stored) {
    const message = "The till has no report, because it is in training mode.";
    return { failure: { code: "no_report", message, gaps: [] } };
  }
  const report = JSON.parse(stored.v2) as ReportV2;
  const accountingData = JSON.parse(stored.accountingData) as TillAccountingData;
  // The stored config may be older than some fields. Parsing adds these fields with their defaults.
  const rules: AccountingRules = ReplaceAccountingConfigRequest.parse(JSON.parse(input.config));
  const { entries, gaps } = buildTillJournalEntries(report, accountingData, rules, currency);
  if (!entries) {
    const message =
      "The till's figures are inconsistent, so debits and credits would differ. `gaps` lists the differences and their orders.";
    return { failure: { code: "unbalanced", message, gaps } };
  }
  const rows = toFecRows(entries, { ...rules, currency }, input.entriesBefore);
  const lines = encodeFecRows(rows, fecFileFormatsByProvider[input.provider]);
  return { lines, entries: entries.length, day: accountingData.day, siret: report.siretCode, failure: null };
}

/**
 * Returns the journal entries of a till, at most three: sales and their payments, cash movements, and the cash
 * difference. In each entry, total debits equal total credits to the cent. If figures of the till are inconsistent,
 * returns the differences between these figures instead.
 *
 * @throws Error when an entry is unbalanced although the figures of the till are consistent, which is a bug.
 */
export function buildTillJournalEntries(
  report: ReportV2,
  accountingData: TillAccountingData,
  config: AccountingRules,
  currency: string,
) {
  const gaps = findInconsistentTillFigures(report, accountingData, currency);
  if (gaps.length > 0) return { entries: null, gaps };
  const documentReference = `Z${report.reportNumber}`;
  const entries = [
    buildSalesEntryLines(report, accountingData, config),
    buildCashMovementEntryLines(report, config),
    buildCashDifferenceEntryLines(report, accountingData, config),
  ].filter((lines) => lines.length > 0);
  const { day, closedOn: validatedOn } = accountingData;
  return {
    entries: entries.map((lines): AccountingJournalEntry => {
      const balance = lines.reduce((sum, { debit, credit }) => sum + debit - credit, 0);
      if (balance !== 0) throw new Error(`The lines of an entry differ by ${balance} between debit and credit.`);
      const text = `${config.entryLabel} ${documentReference}`;
      return {
        ...{ day, validatedOn, documentReference },
        lines: lines.map((line) => ({ ...line, text: `${text} ${line.text}` })),
      };
    }),
    gaps: null,
  };
}
