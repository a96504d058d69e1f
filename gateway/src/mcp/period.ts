import { countDays, createDayFormatter, dayMs } from "@pragma/contracts/date-time";
import { dayQueryParameter } from "@pragma/contracts/pagination";
import { z } from "zod";
import { formatCount } from "./format-text.ts";

/** The periods that tools accept by name, with how they are explained. Weeks begin on Monday. */
export const namedPeriods = [
  "today",
  "yesterday",
  "this_week",
  "last_week",
  "this_month",
  "last_month",
  "this_year",
  "last_year",
  "last_7_days",
  "last_30_days",
  "last_90_days",
  "last_365_days",
] as const;

export type NamedPeriod = (typeof namedPeriods)[number];

/** The arguments by which a tool selects a period. */
export const periodArguments = {
  period: z.enum(namedPeriods).optional().describe("last_N_days end yesterday; weeks begin on Monday"),
  since: dayArgument().optional().describe("First business day YYYY-MM-DD, instead of period"),
  until: dayArgument().optional().describe("Last business day; default: today"),
};

/** Maximum number of days for which `day_status` answers. */
export const maxDayStatusDays = 92;

function dayArgument() {
  return z.string().refine((text) => dayQueryParameter.safeParse(text).success, {
    error: "Must be an existing date as YYYY-MM-DD, such as 2026-05-29",
  });
}

export interface PeriodArguments {
  period?: NamedPeriod | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

/** A range of days, both included. */
export interface DayRange {
  since: string;
  until: string;
}

/** The business days for which a tool answers. */
export interface Period extends DayRange {
  /** Undefined if the period was given by its dates. */
  name?: NamedPeriod;
  /** Whether both days were given as dates, so that they do not depend on the current day. */
  isDated: boolean;
  /** Whether the period contains the current day, whose figures are incomplete. */
  includesToday: boolean;
}

/** Returns what is wrong with the combination of arguments; undefined if nothing is. */
export function findPeriodIssue({ period, since, until }: PeriodArguments): string | undefined {
  if (period !== undefined && (since !== undefined || until !== undefined))
    return "period: use either period, or since and until";
  if (since === undefined && until !== undefined) return "since: is required with until";
  if (since !== undefined && until !== undefined && since > until)
    return `since: ${since} is after until, ${until}. Exchange the two values`;
  return undefined;
}

/** Returns whether the dates of a period depend on the current day in the location's time zone. */
export function needsCurrentDay({ since, until }: PeriodArguments): boolean {
  return since === undefined || until === undefined;
}

/** Returns the business days of a period. `today` is the current day at the location. */
export function resolvePeriod(
  { period, since, until }: PeriodArguments,
  { today, defaultPeriod }: { today: string; defaultPeriod: NamedPeriod },
): Period {
  const name = since === undefined ? (period ?? defaultPeriod) : undefined;
  const range = name === undefined ? { since: since ?? today, until: until ?? today } : getNamedRange(name, today);
  return {
    ...range,
    ...(name && { name }),
    isDated: since !== undefined && until !== undefined,
    includesToday: range.since <= today && today <= range.until,
  };
}

/**
 * Returns the days of the week or month before that correspond to those of a week or month that is not over: a Monday to
 * Wednesday is compared with a Monday to Wednesday. Returns undefined for other periods.
 */
export function findSameDaysBefore({ since, until, name }: Period): DayRange | undefined {
  if (name === "this_week") return { since: addDays(since, -7), until: addDays(until, -7) };
  if (name !== "this_month") return undefined;
  const lastOfMonth = addDays(since, -1);
  const month = lastOfMonth.slice(0, "2026-05".length);
  const sameDate = `${month}${until.slice(month.length)}`;
  return { since: `${month}-01`, until: sameDate < lastOfMonth ? sameDate : lastOfMonth };
}

/** Returns a period as text, with the time zone of its days: `2026-05-01 to 2026-05-31 (last_month, 31 days, Europe/Paris)`. */
export function describePeriod(period: Period, { timeZone }: { timeZone: string | null }): string {
  const { since, until, name, isDated } = period;
  const days = since === until ? since : `${since} to ${until}`;
  const zone = timeZone ?? (isDated ? "time zone of the location" : "days in UTC: the key cannot read the time zone");
  return `${days} (${[...(name ? [name] : []), formatCount(countDays(period), "day"), zone].join(", ")})`;
}

/** Returns the arguments of a period, for the next call of a tool. */
export function toPeriodArguments({ since, until, name }: Period): PeriodArguments {
  return name === undefined ? { since, until } : { period: name };
}

/** Returns a note if figures of the period are incomplete. */
export function describeIncompleteToday({ includesToday }: Period): string | undefined {
  return includesToday
    ? "Note: figures come from closed shifts. Sales of a shift that is still open today are not included."
    : undefined;
}

/** Returns the current day in a time zone, YYYY-MM-DD. */
export function getCurrentDay(timeZone: string, now = new Date()): string {
  return createDayFormatter(timeZone)(now.toISOString());
}

function getNamedRange(name: NamedPeriod, today: string): DayRange {
  const yesterday = addDays(today, -1);
  const monday = addDays(today, -((new Date(today).getUTCDay() + 6) % 7));
  const firstOfMonth = `${today.slice(0, 7)}-01`;
  const year = Number(today.slice(0, 4));
  const yearText = (number: number) => String(number).padStart(4, "0");
  switch (name) {
    case "today":
      return { since: today, until: today };
    case "yesterday":
      return { since: yesterday, until: yesterday };
    case "this_week":
      return { since: monday, until: today };
    case "last_week":
      return { since: addDays(monday, -7), until: addDays(monday, -1) };
    case "this_month":
      return { since: firstOfMonth, until: today };
    case "last_month": {
      const until = addDays(firstOfMonth, -1);
      return { since: `${until.slice(0, 7)}-01`, until };
    }
    case "this_year":
      return { since: `${yearText(year)}-01-01`, until: today };
    case "last_year":
      return { since: `${yearText(year - 1)}-01-01`, until: `${yearText(year - 1)}-12-31` };
    default: {
      const days = Number(name.split("_")[1]);
      return { since: addDays(today, -days), until: yesterday };
    }
  }
}

/** Returns the date a number of days later, or earlier if it is negative. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);
}
