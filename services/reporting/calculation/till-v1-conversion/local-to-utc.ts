import { dateTimeToUtc, hasUtcOffset } from "@pragma/contracts/date-time";
import { Temporal } from "temporal-polyfill";

/** A function that converts a date-time of a V1 till to UTC. Returns null for null. */
export interface LocalToUtcConverter {
  (dateTime: string): string;
  (dateTime: string | null): string | null;
}

/**
 * Returns a function that converts date-times of V1 tills to UTC. A date-time without an offset is local time in this time
 * zone (IANA). Of two equal local times, it is the first; one that summer time skips, such as 02:30, becomes 03:30.
 */
export function createLocalToUtcConverter(timeZone: string): LocalToUtcConverter {
  const converted = new Map<string, string>();
  return ((dateTime: string | null) => {
    if (dateTime === null || hasUtcOffset(dateTime)) return dateTime;
    const cached = converted.get(dateTime);
    if (cached !== undefined) return cached;
    const localDateTime = Temporal.PlainDateTime.from(dateTime);
    const instant = dateTimeToUtc(
      localDateTime.toZonedDateTime(timeZone, { disambiguation: "compatible" }).toInstant().toString(),
    );
    converted.set(dateTime, instant);
    return instant;
  }) as LocalToUtcConverter;
}
