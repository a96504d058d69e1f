import { dateTimeToUtc, hasUtcOffset } from "@pragma/contracts/date-time";
import { Temporal } from "temporal-polyfill";

/** Makes a date-time of the older format UTC; null stays null. */
export interface LocalToUtc {
  (dateTime: string): string;
  (dateTime: string | null): string | null;
}

/**
 * Reads date-times of the older format in a time zone (IANA): one without an offset is what a clock there showed. An
 * hour that a clock showed twice is the first of the two; one that it skipped is as long after the change as it would
 * have been, so that 02:30 skipped to 03:30.
 */
export function localToUtcIn(timeZone: string): LocalToUtc {
  const converted = new Map<string, string>();
  return ((dateTime: string | null) => {
    if (dateTime === null || hasUtcOffset(dateTime)) return dateTime;
    const cached = converted.get(dateTime);
    if (cached !== undefined) return cached;
    const clock = Temporal.PlainDateTime.from(dateTime);
    const instant = dateTimeToUtc(
      clock.toZonedDateTime(timeZone, { disambiguation: "compatible" }).toInstant().toString(),
    );
    converted.set(dateTime, instant);
    return instant;
  }) as LocalToUtc;
}
