import { type EReportKind, eReportKinds } from "./e-report.ts";

const kindDigits: Record<EReportKind, string> = { transactions: "1", payments: "2" };

/** What identifies an e-report. */
export interface EReportKey {
  siren: string;
  kind: EReportKind;
  /** The first day of the period. */
  period: string;
}

/**
 * Returns the ID of an e-report in the change feed, whose IDs are UUIDs. It is a UUID of version 8, whose digits are the
 * SIREN, a digit for the kind, and the date, so that the URL of the e-report follows from it.
 */
export function buildEReportId({ siren, kind, period }: EReportKey): string {
  return `${siren.slice(0, 8)}-${siren.slice(8)}000-8000-8${kindDigits[kind].padStart(3, "0")}-0000${period.replaceAll("-", "")}`;
}

/** Returns what the ID identifies. @throws Error if `buildEReportId` does not return such IDs */
export function parseEReportId(id: string): EReportKey {
  const [, first, last, digit, year, month, day] =
    /^(\d{8})-(\d)000-8000-800(\d)-0000(\d{4})(\d\d)(\d\d)$/.exec(id) ?? [];
  const kind = eReportKinds.find((each) => kindDigits[each] === digit);
  if (first === undefined || kind === undefined) throw new Error(`${id} is no ID of an e-report.`);
  return { siren: `${first}${last}`, kind, period: `${year}-${month}-${day}` };
}
