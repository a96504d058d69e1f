import type { EReportKind } from "@pragma/contracts/e-report";
import type { VatRegime } from "@pragma/contracts/e-reporting-declarant";
import { Temporal } from "temporal-polyfill";

/** A period of reports. Days are YYYY-MM-DD. */
export interface EReportPeriod {
  /** Both days belong to the period. */
  first: string;
  last: string;
  /** The last day on which the platform accepts the report of the period. */
  dueOn: string;
}

type PlainDate = Temporal.PlainDate;

/**
 * Returns the period that contains a day, by the administration's external specifications 3.2, general file, table 13. Public
 * holidays and weekends move no date.
 */
export function findPeriod(kind: EReportKind, regime: VatRegime, day: string): EReportPeriod {
  const date = Temporal.PlainDate.from(day);
  if (regime === "exempt") return toPeriod(twoMonthsOf(date), (last) => endOfMonth(last.add({ days: 1 })));
  if (regime === "simplified") return toPeriod(monthOf(date), (last) => endOfMonth(last.add({ days: 1 })));
  if (kind === "payments" || regime === "quarterly") return toPeriod(monthOf(date), tenthOfNextMonth);
  return toPeriod(decadeOf(date), (last) => {
    if (last.day === 10) return last.with({ day: 20 });
    return last.day === 20 ? endOfMonth(last) : tenthOfNextMonth(last);
  });
}

interface PeriodsQuery {
  kind: EReportKind;
  regime: VatRegime;
  /** The periods whose reports were taken, maybe when the business had another regime. They do not overlap. */
  taken: readonly EReportPeriod[];
}

/** The regimes with shorter and shorter periods. */
const regimes: readonly VatRegime[] = ["exempt", "simplified", "quarterly", "monthly"];

/**
 * Returns the periods with at least one day of a range, earliest first. Each day is in one period: periods that were taken
 * keep their bounds and due dates, and the days beside them are in shorter periods if those of the regime would overlap them.
 */
export function listPeriods(
  { kind, regime, taken }: PeriodsQuery,
  { since, until }: { since: string; until: string },
): EReportPeriod[] {
  const periods: EReportPeriod[] = [];
  const end = Temporal.PlainDate.from(until);
  for (let day = Temporal.PlainDate.from(since); Temporal.PlainDate.compare(day, end) <= 0; ) {
    const candidates = [regime, ...regimes].map((each) => findPeriod(kind, each, day.toString()));
    const isPossible = (candidate: EReportPeriod) =>
      taken.every(({ first, last }) => last < candidate.first || first > candidate.last);
    const period =
      taken.find(({ first, last }) => first <= day.toString() && day.toString() <= last) ?? candidates.find(isPossible);
    if (!period) throw new Error(`Periods that were taken overlap on ${day}.`);
    periods.push(period);
    day = Temporal.PlainDate.from(period.last).add({ days: 1 });
  }
  return periods;
}

const endOfMonth = (date: PlainDate) => date.with({ day: date.daysInMonth });
const tenthOfNextMonth = (date: PlainDate) => date.with({ day: 1 }).add({ months: 1 }).with({ day: 10 });

const monthOf = (date: PlainDate) => ({ first: date.with({ day: 1 }), last: endOfMonth(date) });

/** The first, second or last ten days of a month. The last ones are eight to eleven days. */
function decadeOf(date: PlainDate) {
  if (date.day <= 10) return { first: date.with({ day: 1 }), last: date.with({ day: 10 }) };
  if (date.day <= 20) return { first: date.with({ day: 11 }), last: date.with({ day: 20 }) };
  return { first: date.with({ day: 21 }), last: endOfMonth(date) };
}

/** Two calendar months, of which the first is odd. */
function twoMonthsOf(date: PlainDate) {
  const first = date.with({ day: 1 }).subtract({ months: (date.month - 1) % 2 });
  return { first, last: endOfMonth(first.add({ months: 1 })) };
}

const toPeriod = ({ first, last }: { first: PlainDate; last: PlainDate }, dueOn: (last: PlainDate) => PlainDate) => ({
  ...{ first: first.toString(), last: last.toString() },
  dueOn: dueOn(last).toString(),
});
