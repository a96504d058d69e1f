import type { AccountingRules } from "@pragma/contracts/accounting-config";
import type { AccountingFailure } from "@pragma/contracts/accounting-export";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillReport } from "../queries/accounting-exports.ts";
import type { JournalEntry } from "./journal.ts";
import { journalOfTill } from "./journal-of-till.ts";
import type { TillFacts } from "./till-facts.ts";

/** A till whose figures add up: its entries, and what the file's name and order go by. */
export interface WellTill {
  tillId: string;
  entries: JournalEntry[];
  finalizedAt: string;
  day: string;
  siret: string;
}

/** What comes of a till: what it gives to its file, or why it gives nothing. */
export type TillOutcome = { till: WellTill; failure: null } | { till: null; failure: AccountingFailure };

/** Makes a till's entries from what the service has of it: undefined when it has no report. */
export function exportTill(stored: TillReport | undefined, config: AccountingRules): TillOutcome {
  if (!stored) return failed("no_report", "The till has no report: it was made in school mode.");
  if (stored.accounting_facts === null) {
    return failed(
      "outdated_report",
      "The report was made before there were exports: have the till processed again, then export it.",
    );
  }
  const report = JSON.parse(stored.v2) as ReportV2;
  const facts = JSON.parse(stored.accounting_facts) as TillFacts;
  const { entries, gaps } = journalOfTill(report, facts, config);
  if (!entries) return failed("unbalanced", "Debit and credit of this till would differ: see gaps.", gaps);
  const { tillId, finalizedAt, siretCode: siret } = report;
  return { till: { tillId, entries, finalizedAt, day: facts.day, siret }, failure: null };
}

export function failed(
  code: AccountingFailure["code"],
  message: string,
  gaps: AccountingFailure["gaps"] = [],
): TillOutcome {
  return { till: null, failure: { code, message, gaps } };
}
