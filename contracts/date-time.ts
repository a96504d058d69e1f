import { z } from "zod";

/**
 * Converts a date-time, which must have an offset or `Z`, to UTC with milliseconds. Keeps digits after the
 * milliseconds, except trailing zeros, so that the instant stays the same. Returns a text that is not a date-time
 * unchanged.
 */
export function dateTimeToUtc(dateTime: string): string {
  if (dateTime.length === 24 && dateTime.endsWith("Z")) return dateTime;
  const time = Date.parse(dateTime);
  if (Number.isNaN(time)) return dateTime;
  const utc = new Date(time).toISOString();
  const subMilliseconds = /\.\d{3}(\d*[1-9])/.exec(dateTime);
  return subMilliseconds ? `${utc.slice(0, -1)}${subMilliseconds[1]}Z` : utc;
}

/** Returns whether an instant is before another instant. Both must be in the format of `dateTimeToUtc`. */
export function isUtcBefore(one: string, other: string): boolean {
  return one.slice(0, -1) < other.slice(0, -1);
}

export const dayMs = 24 * 60 * 60 * 1000;
export const earliestInstant = "0001-01-01T00:00:00.000Z";
export const latestInstant = "9999-12-31T23:59:59.999Z";
const minTimeMs = Date.parse(earliestInstant);
const maxTimeMs = Date.parse(latestInstant);

/**
 * A date-time in a request, with seconds and an offset or `Z`. The day must exist and be in the years 1 to 9999.
 * Parsing converts it to UTC.
 */
export const RequestDateTime = z.iso
  .datetime({
    offset: true,
    error: "Must be a valid date-time with seconds and an offset or Z, such as 2026-05-29T10:17:19.000Z",
  })
  .refine(isInYearRange, "Must be between the years 1 and 9999")
  .refine(hasAtMostNanoseconds, "Must have at most 9 fractional digits")
  .overwrite(dateTimeToUtc);

/**
 * A date-time in a V1 body. Unlike `RequestDateTime`, it can lack an offset. Parsing converts date-times with an offset
 * to UTC. A date-time without an offset is in the location's time zone, and parsing does not change it.
 */
export const DateTimeV1 = z.iso
  .datetime({
    offset: true,
    local: true,
    error: "Must be a valid date-time, such as 2026-05-29T10:17:19 or 2026-05-29T10:17:19.000Z",
  })
  .refine(isInYearRange, "Must be between the years 1 and 9999")
  .refine(hasAtMostNanoseconds, "Must have at most 9 fractional digits")
  .overwrite((dateTime) => (hasUtcOffset(dateTime) ? dateTimeToUtc(dateTime) : dateTime))
  .meta({ format: "date-time-offset-optional" });

/**
 * Returns whether a date-time is at most as long as one with nine fractional digits and an offset. PostgreSQL would
 * reject hundreds of fractional digits.
 */
function hasAtMostNanoseconds(dateTime: string): boolean {
  return dateTime.length <= "2026-05-29T10:17:19.123456789+02:00".length;
}

/** Returns whether a date-time has an offset or `Z`, so that it identifies an instant without a time zone. */
export function hasUtcOffset(dateTime: string): boolean {
  return /(?:Z|[+-]\d{2}:\d{2})$/.test(dateTime);
}

/** A date-time in a response, always in UTC. */
export const UtcDateTimeSchema = z.iso.datetime().meta({ example: "2026-05-29T10:17:19.000Z" });

/**
 * Returns whether a date-time is in the years 1 to 9999. A date-time without an offset must be in these years in every
 * time zone.
 */
function isInYearRange(dateTime: string): boolean {
  // Parsing a date is slow, and an offset changes the year only if it is the first or the last one.
  if (dateTime >= "0002" && dateTime < "9999") return true;
  const isInstant = hasUtcOffset(dateTime);
  const time = Date.parse(isInstant ? dateTime : `${dateTime}Z`);
  const margin = isInstant ? 0 : dayMs;
  return !(time < minTimeMs + margin || time > maxTimeMs - margin);
}

/** Formatters by time zone, of which there are a few hundred. Creating one takes as long as formatting 200 hours. */
const hourFormats = new Map<string, Intl.DateTimeFormat>();

/** Returns a function that returns the local hour, 0 to 23, of an instant. */
export function createHourFormatter(timeZone: string): (instant: string) => number {
  const format =
    hourFormats.get(timeZone) ?? new Intl.DateTimeFormat("en", { timeZone, hour: "2-digit", hourCycle: "h23" });
  hourFormats.set(timeZone, format);
  return (instant) => Number(format.format(new Date(instant)));
}

/** Returns the number of days from `since` to `until`, both included. */
export function countDays({ since, until }: { since: string; until: string }): number {
  return Math.round((Date.parse(until) - Date.parse(since)) / dayMs) + 1;
}

const earliestDay = earliestInstant.slice(0, 10);
const latestDay = latestInstant.slice(0, 10);

/**
 * Returns a function that formats an instant as the local day, YYYY-MM-DD. If the offset of the time zone moves the
 * instant to a day before the year 1 or after the year 9999, returns the first day of year 1 or the last of year 9999.
 */
export function createDayFormatter(timeZone: string): (instant: string) => string {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  return (instant) => {
    const day = format.format(new Date(instant)).padStart(latestDay.length, "0");
    if (day.length > latestDay.length) return latestDay;
    return instant.startsWith(earliestDay) && day.endsWith("12-31") ? earliestDay : day;
  };
}
