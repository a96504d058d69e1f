import { Temporal } from "temporal-polyfill";
import { earliestInstant, latestInstant } from "./date-time.ts";
import { boundedString } from "./fields.ts";

/** The time zone of a location for which no time zone is configured. */
export const defaultTimeZone = "Europe/Paris";

/**
 * Returns whether a location can have this time zone: whether it is an IANA name that everything computes with that
 * needs it. `Intl` also takes offsets, and short names of ICU such as `IST`, which Temporal rejects because they are
 * ambiguous. ICU keeps the names `SystemV/…`, `US/Pacific-New` and `Canada/East-Saskatchewan`, which IANA has removed and other
 * programs do not know.
 */
export function isAcceptedTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name) || /^(?:SystemV\/|US\/Pacific-New$|Canada\/East-Saskatchewan$)/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    Temporal.PlainDate.from("2026-01-01").toZonedDateTime(name);
    return true;
  } catch {
    return false;
  }
}

/** Returns the name of an accepted time zone as IANA spells it: `Europe/Paris` for `europe/paris`. */
const spellTimeZone = (name: string): string =>
  isAcceptedTimeZone(name) ? Temporal.PlainDate.from("2026-01-01").toZonedDateTime(name).timeZoneId : name;

/** The time zone of a location, or of another setting with which the API computes. See `isAcceptedTimeZone`. */
export const TimeZone = boundedString(64)
  .refine(
    isAcceptedTimeZone,
    "Must be an IANA time zone name, such as Europe/Paris, not an offset or an abbreviation such as IST",
  )
  .overwrite(spellTimeZone)
  .meta({ description: "IANA name of the location's time zone", example: defaultTimeZone });

/**
 * Returns the instant at which a day (YYYY-MM-DD) begins in a time zone, plus `addedDays`. If the first hour of the day
 * occurs twice, returns the first midnight; if the change to summer time skips midnight, the first instant of the day.
 * Returns an instant in the years 1 to 9999, because PostgreSQL rejects others in this format.
 *
 * Queries must use it instead of `at time zone` and `date_trunc`, because PostgreSQL has its own zone data, does not know
 * all zones, takes the second midnight, and ignores the summer time of `CET`, `EET`, `MET` and `WET`.
 */
export function computeStartOfDay(day: string, timeZone: string, addedDays = 0): string {
  const { epochMilliseconds } = Temporal.PlainDate.from(day).add({ days: addedDays }).toZonedDateTime(timeZone);
  if (epochMilliseconds < Date.parse(earliestInstant)) return earliestInstant;
  if (epochMilliseconds > Date.parse(latestInstant)) return latestInstant;
  return new Date(epochMilliseconds).toISOString();
}
