import { type AccountingRules, ReplaceAccountingConfig } from "@pragma/contracts/accounting-config";
import type { AccountingFailure } from "@pragma/contracts/accounting-export";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { PlannedFile, TillReport } from "../queries/accounting-exports.ts";
import { cashEntry, movementsEntry, salesEntry } from "./entries.ts";
import { fileFormats } from "./fec/formats.ts";
import { fecLines, fecRows } from "./fec/write-fec.ts";
import { findGaps } from "./gaps.ts";
import type { JournalLine } from "./journal.ts";
import type { TillFacts } from "./till-facts.ts";

/** A till to write into a file: what the service has of it, undefined when it has no report. */
export interface WriteTill extends Pick<PlannedFile, "provider" | "config"> {
  stored: TillReport | undefined;
  /** How many entries the file has already. */
  entriesBefore: number;
}

/** What a till gives to its file. */
export interface WrittenTill {
  lines: Uint8Array;
  entries: number;
  day: string;
  siret: string;
  failure: null;
}

/** Why a till gives nothing. */
export interface FailedTill {
  failure: AccountingFailure;
}

/** Writes a till's entries. Runs in a thread of its own: a till may have tens of thousands of lines. */
export default function writeTill({ stored, provider, config, entriesBefore }: WriteTill): WrittenTill | FailedTill {
  if (!stored) return failed("no_report", "The till has no report: it was made in school mode.");
  if (stored.accountingFacts === null) {
    return failed(
      "outdated_report",
      "The report was made before there were exports: have the till processed again, then export it.",
    );
  }
  const report = JSON.parse(stored.v2) as ReportV2;
  const facts = JSON.parse(stored.accountingFacts) as TillFacts;
  // The config as it was, and as the chart has it in what has come to configs since.
  const rules: AccountingRules = ReplaceAccountingConfig.parse(JSON.parse(config));
  const { entries, gaps } = journalOfTill(report, facts, rules);
  if (!entries) return failed("unbalanced", "Debit and credit of this till would differ: see gaps.", gaps);
  const lines = fecLines(fecRows(entries, rules, entriesBefore), fileFormats[provider]);
  return { lines, entries: entries.length, day: facts.day, siret: report.siretCode, failure: null };
}

export function failed(
  code: AccountingFailure["code"],
  message: string,
  gaps: AccountingFailure["gaps"] = [],
): FailedTill {
  return { failure: { code, message, gaps } };
}

/**
 * The journal entries of a till, at most three: sales and their payments, movements of the drawer, and what the counted
 * cash differs by. In each debit is credit, to the cent. A till whose figures contradict each other has none, but the
 * gaps between them.
 */
export function journalOfTill(report: ReportV2, facts: TillFacts, config: AccountingRules) {
  const gaps = findGaps(report, facts);
  if (gaps.length > 0) return { entries: null, gaps };
  const piece = `Z${report.reportNumber}`;
  const entries = [
    salesEntry(report, facts, config),
    movementsEntry(report, config),
    cashEntry(report, facts, config),
  ].filter((lines) => lines.length > 0);
  return {
    entries: entries.map((lines) => ({
      day: facts.day,
      validFrom: facts.closedOn,
      piece,
      lines: balanced(lines).map((line) => ({ ...line, text: `${config.entryLabel} ${piece} ${line.text}` })),
    })),
    gaps: null,
  };
}

/** What holds by construction once there are no gaps; if it does not, nothing may be exported. */
function balanced(lines: JournalLine[]): JournalLine[] {
  const balance = lines.reduce((sum, { debit, credit }) => sum + debit - credit, 0);
  if (balance !== 0) throw new Error(`The lines of an entry differ by ${balance} between debit and credit.`);
  return lines;
}
