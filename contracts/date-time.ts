import { z } from "zod";
import { boundedString } from "./fields.ts";

/**
 * The instant of a date-time with an offset or `Z`, written in UTC with milliseconds. Digits of a second beyond
 * milliseconds are kept when they are not zero, so that no instant is changed. What is no such date-time comes back as
 * it is.
 */
export function dateTimeToUtc(dateTime: string): string {
  if (dateTime.length === 24 && dateTime.endsWith("Z")) return dateTime;
  const time = Date.parse(dateTime);
  if (Number.isNaN(time)) return dateTime;
  const utc = new Date(time).toISOString();
  const subMilliseconds = /\.\d{3}(\d*[1-9])/.exec(dateTime);
  return subMilliseconds ? `${utc.slice(0, -1)}${subMilliseconds[1]}Z` : utc;
}

/** Whether one instant, as `toUtc` writes it, is before another. */
export function isUtcBefore(one: string, other: string): boolean {
  return one.slice(0, -1) < other.slice(0, -1);
}

const dayMs = 24 * 60 * 60 * 1000;
const maxTimeMs = Date.parse("9999-12-31T23:59:59.999Z");
const minTimeMs = Date.parse("0001-01-01T00:00:00.000Z");

/**
 * A date-time in a body: a day that exists, seconds, and an offset or `Z`, in the years 1 to 9999. It becomes the same
 * instant in UTC.
 */
export const DateTime = z.iso
  .datetime({
    offset: true,
    error: "Must be a date-time that exists, with seconds and an offset or Z, such as 2026-05-29T10:17:19.000Z",
  })
  .refine(isInYearRange, { error: "Must be in the years 1 to 9999" })
  .refine(hasAtMostNanoseconds, { error: "May have 9 digits after the point at most" })
  .overwrite(dateTimeToUtc);

/**
 * A date-time in a body of the older format: as `DateTime`, or without an offset and then in the location's time zone,
 * to be told apart by its ending. Only the former becomes UTC here.
 */
export const DateTimeV1 = z.iso
  .datetime({
    offset: true,
    local: true,
    error: "Must be a date-time that exists, such as 2026-05-29T10:17:19 or 2026-05-29T10:17:19.000Z",
  })
  .refine(isInYearRange, { error: "Must be in the years 1 to 9999" })
  .refine(hasAtMostNanoseconds, { error: "May have 9 digits after the point at most" })
  .overwrite((dateTime) => (hasUtcOffset(dateTime) ? dateTimeToUtc(dateTime) : dateTime))
  .meta({ format: "date-time-offset-optional" });

/** Whether a date-time is no finer than nanoseconds. PostgreSQL refuses one of hundreds of digits. */
function hasAtMostNanoseconds(dateTime: string): boolean {
  return dateTime.length <= "2026-05-29T10:17:19.123456789+02:00".length;
}

/** Whether a date-time says which instant it is, and not only what a clock showed. */
export function hasUtcOffset(dateTime: string): boolean {
  return /(?:Z|[+-]\d{2}:\d{2})$/.test(dateTime);
}

/** A date-time in a reply: always in UTC. */
export const UtcDateTime = z.iso.datetime().meta({ example: "2026-05-29T10:17:19.000Z" });

/** Without an offset it has to be in range in every time zone. */
function isInYearRange(dateTime: string): boolean {
  const isInstant = hasUtcOffset(dateTime);
  const time = Date.parse(isInstant ? dateTime : `${dateTime}Z`);
  const margin = isInstant ? 0 : dayMs;
  return !(time < minTimeMs + margin || time > maxTimeMs - margin);
}

/** The time zone of a location whose own is not told. */
export const defaultTimeZone = "Europe/Paris";

/** A name of the IANA time zone database, as the runtime knows it; not an offset such as +01:00. */
export const TimeZone = boundedString(64)
  .refine((name) => /^[A-Za-z]/.test(name) && isKnownTimeZone(name), {
    error: "Must be a time zone of the IANA database, such as Europe/Paris",
  })
  .meta({ description: "Time zone, by its name in the IANA database", example: defaultTimeZone });

function isKnownTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return true;
  } catch {
    return false;
  }
}
