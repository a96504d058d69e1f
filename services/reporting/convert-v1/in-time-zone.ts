import { hasOffset, toUtc } from "@pragma/contracts/date-time";
import { Temporal } from "temporal-polyfill";

/** Makes a date-time of the older format UTC; null stays null. */
export interface ToInstant {
  (dateTime: string): string;
  (dateTime: string | null): string | null;
}

/**
 * Reads date-times of the older format in a time zone (IANA): one without an offset is what a clock there showed. An
 * hour that a clock showed twice is the first of the two; one that it skipped is as long after the change as it would
 * have been, so that 02:30 skipped to 03:30.
 */
export function inTimeZone(timeZone: string): ToInstant {
  const known = new Map<string, string>();
  return ((dateTime: string | null) => {
    if (dateTime === null || hasOffset(dateTime)) return dateTime;
    const before = known.get(dateTime);
    if (before !== undefined) return before;
    const clock = Temporal.PlainDateTime.from(dateTime);
    const instant = toUtc(clock.toZonedDateTime(timeZone, { disambiguation: "compatible" }).toInstant().toString());
    known.set(dateTime, instant);
    return instant;
  }) as ToInstant;
}
