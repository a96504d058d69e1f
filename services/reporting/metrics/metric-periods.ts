import { dayMs } from "@pragma/contracts/date-time";
import { metricWeekdays } from "@pragma/contracts/metric-definitions";
import type { MetricComparison, MetricFilters } from "@pragma/contracts/metrics-query";

/** Days are numbers since 1970-01-01, and months are numbers since January 1970. */

/** A range of business days, both ends included. */
export interface DayRange {
  first: number;
  last: number;
}

export const toDayNumber = (day: string): number => Math.round(Date.parse(`${day}T00:00:00Z`) / dayMs);

const toDate = (day: number) => new Date(day * dayMs);

export const formatDay = (day: number): string => toDate(day).toISOString().slice(0, 10);

/** Returns the number of a weekday: 0 for Monday. 1970-01-01 was a Thursday. */
export const getWeekday = (day: number): number => (((day + 3) % 7) + 7) % 7;

export const getMonday = (day: number): number => day - getWeekday(day);

export function getMonthNumber(day: number): number {
  const date = toDate(day);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

/** Returns the first day of a month. */
export function getFirstDayOfMonth(month: number): number {
  return Math.round(Date.UTC(1970, month, 1) / dayMs);
}

export const formatMonth = (month: number): string => formatDay(getFirstDayOfMonth(month)).slice(0, 7);

/** Returns the ISO 8601 week that begins on a Monday, such as 2026-W22. Its year is that of its Thursday. */
export function formatWeek(monday: number): string {
  const thursday = monday + 3;
  const year = toDate(thursday).getUTCFullYear();
  const firstOfYear = toDayNumber(`${String(year).padStart(4, "0")}-01-01`);
  const week = Math.floor((thursday - firstOfYear) / 7) + 1;
  return `${String(year).padStart(4, "0")}-W${String(week).padStart(2, "0")}`;
}

export const formatWeekday = (weekday: number): (typeof metricWeekdays)[number] => metricWeekdays[weekday] ?? "monday";

const isFirstOfMonth = (day: number) => formatDay(day).endsWith("-01");

/** Returns the range of days with which a range is compared. */
export function computeComparedRange({ first, last }: DayRange, comparison: MetricComparison): DayRange {
  if (comparison === "previous_year") return { first: toPreviousYear(first), last: toPreviousYear(last) };
  if (comparison === "previous_week") {
    const shift = Math.ceil((last - first + 1) / 7) * 7;
    return { first: first - shift, last: last - shift };
  }
  if (isFirstOfMonth(first) && isFirstOfMonth(last + 1)) {
    const firstMonth = getMonthNumber(first);
    const months = getMonthNumber(last) - firstMonth + 1;
    return { first: getFirstDayOfMonth(firstMonth - months), last: first - 1 };
  }
  return { first: first - (last - first + 1), last: first - 1 };
}

/** Returns the same date a year before: February 28 for February 29. */
function toPreviousYear(day: number): number {
  const month = getMonthNumber(day);
  const dayOfMonth = day - getFirstDayOfMonth(month);
  const previous = getFirstDayOfMonth(month - 12) + dayOfMonth;
  return Math.min(previous, getFirstDayOfMonth(month - 11) - 1);
}

/** Consecutive days of a range that filters accept; or a whole month, of which the merged figures can be read. */
export interface DaySpan extends DayRange {
  isWholeMonth: boolean;
}

/** Returns the days of a range that filters accept. `canMergeMonths` tells whether whole months are spans of their own. */
export function splitRange(range: DayRange, filters: MetricFilters, canMergeMonths: boolean): DaySpan[] {
  const accepts = createDayFilter(filters);
  const spans: DaySpan[] = [];
  const addSpan = (first: number, last: number, isWholeMonth: boolean) => {
    const previous = spans.at(-1);
    if (previous && !isWholeMonth && !previous.isWholeMonth && previous.last === first - 1) previous.last = last;
    else spans.push({ first, last, isWholeMonth });
  };
  for (let day = range.first; day <= range.last; day += 1) {
    const endOfMonth = isFirstOfMonth(day) ? getFirstDayOfMonth(getMonthNumber(day) + 1) - 1 : undefined;
    if (canMergeMonths && endOfMonth !== undefined && endOfMonth <= range.last) {
      // Without filters by days, a filter accepts either all days of a month or none.
      if (accepts(day)) addSpan(day, endOfMonth, true);
      day = endOfMonth;
    } else if (accepts(day)) addSpan(day, day, false);
  }
  return spans;
}

function createDayFilter({ day, week, month, weekday }: MetricFilters): (day: number) => boolean {
  const weekdays = weekday && new Set(weekday.map((name) => (metricWeekdays as readonly string[]).indexOf(name)));
  const days = day && new Set(day);
  const weeks = week && new Set(week);
  const months = month && new Set(month);
  return (candidate) =>
    (!weekdays || weekdays.has(getWeekday(candidate))) &&
    (!days || days.has(formatDay(candidate))) &&
    (!weeks || weeks.has(formatWeek(getMonday(candidate)))) &&
    (!months || months.has(formatMonth(getMonthNumber(candidate))));
}
