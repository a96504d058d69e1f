import type { AccountingRules } from "@pragma/contracts/accounting-config";
import type { AccountingGap } from "@pragma/contracts/accounting-export";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { cashEntry, movementsEntry, salesEntry } from "./entries.ts";
import { findGaps } from "./gaps.ts";
import type { JournalEntry, JournalLine } from "./journal.ts";
import type { TillFacts } from "./till-facts.ts";

export type JournalOfTill = { entries: JournalEntry[]; gaps: null } | { entries: null; gaps: AccountingGap[] };

/**
 * The journal entries of a till, at most three: sales and their payments, movements of the drawer, and what the counted
 * cash differs by. In each debit is credit, to the cent. A till whose figures contradict each other has none, but the
 * gaps between them.
 */
export function journalOfTill(report: ReportV2, facts: TillFacts, config: AccountingRules): JournalOfTill {
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
