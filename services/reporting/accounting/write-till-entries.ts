import { type AccountingRules, ReplaceAccountingConfig } from "@pragma/contracts/accounting-config";
import type { AccountingExportFailure } from "@pragma/contracts/accounting-export";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { PlannedExportFile, StoredTillReport } from "../queries/accounting-exports.ts";
import { fecFileFormats } from "./fec/file-formats.ts";
import { encodeFecRows, toFecRows } from "./fec/write-fec.ts";
import { findAccountingGaps } from "./find-accounting-gaps.ts";
import type { JournalLine } from "./journal.ts";
import { cashDifferenceEntryLines, cashMovementEntryLines, salesEntryLines } from "./journal-entries.ts";
import type { TillAccountingData } from "./till-accounting-data.ts";

/** A till to write into a file: what the service has of it, undefined when it has no report. */
export interface WriteTillTask extends Pick<PlannedExportFile, "provider" | "config"> {
  stored: StoredTillReport | undefined;
  /** How many entries the file has already. */
  entriesBefore: number;
}

/** What a till gives to its file. */
export interface WrittenTillEntries {
  lines: Uint8Array;
  entries: number;
  day: string;
  siret: string;
  failure: null;
}

/** Why a till gives nothing. */
export interface FailedTillExport {
  failure: AccountingExportFailure;
}

/** Writes a till's entries. Runs in a thread of its own: a till may have tens of thousands of lines. */
export default function writeTillEntries({
  stored,
  provider,
  config,
  entriesBefore,
}: WriteTillTask): WrittenTillEntries | FailedTillExport {
  if (!stored) return tillExportFailure("no_report", "The till has no report: it was made in school mode.");
  if (stored.accountingFacts === null) {
    return tillExportFailure(
      "outdated_report",
      "The report was made before there were exports: have the till processed again, then export it.",
    );
  }
  const report = JSON.parse(stored.v2) as ReportV2;
  const facts = JSON.parse(stored.accountingFacts) as TillAccountingData;
  // The config as it was, and as the chart has it in what has come to configs since.
  const rules: AccountingRules = ReplaceAccountingConfig.parse(JSON.parse(config));
  const { entries, gaps } = createTillJournal(report, facts, rules);
  if (!entries) return tillExportFailure("unbalanced", "Debit and credit of this till would differ: see gaps.", gaps);
  const lines = encodeFecRows(toFecRows(entries, rules, entriesBefore), fecFileFormats[provider]);
  return { lines, entries: entries.length, day: facts.day, siret: report.siretCode, failure: null };
}

export function tillExportFailure(
  code: AccountingExportFailure["code"],
  message: string,
  gaps: AccountingExportFailure["gaps"] = [],
): FailedTillExport {
  return { failure: { code, message, gaps } };
}

/**
 * The journal entries of a till, at most three: sales and their payments, movements of the drawer, and what the counted
 * cash differs by. In each debit is credit, to the cent. A till whose figures contradict each other has none, but the
 * gaps between them.
 */
export function createTillJournal(report: ReportV2, facts: TillAccountingData, config: AccountingRules) {
  const gaps = findAccountingGaps(report, facts);
  if (gaps.length > 0) return { entries: null, gaps };
  const documentReference = `Z${report.reportNumber}`;
  const entries = [
    salesEntryLines(report, facts, config),
    cashMovementEntryLines(report, config),
    cashDifferenceEntryLines(report, facts, config),
  ].filter((lines) => lines.length > 0);
  return {
    entries: entries.map((lines) => ({
      day: facts.day,
      validatedOn: facts.closedOn,
      documentReference,
      lines: requireBalanced(lines).map((line) => ({
        ...line,
        text: `${config.entryLabel} ${documentReference} ${line.text}`,
      })),
    })),
    gaps: null,
  };
}

/** What holds by construction once there are no gaps; if it does not, nothing may be exported. */
function requireBalanced(lines: JournalLine[]): JournalLine[] {
  const balance = lines.reduce((sum, { debit, credit }) => sum + debit - credit, 0);
  if (balance !== 0) throw new Error(`The lines of an entry differ by ${balance} between debit and credit.`);
  return lines;
}
