import { limitedText } from "./length-limits.ts";

/** The time zone of a location whose own is not told. */
export const defaultTimeZone = "Europe/Paris";

/** A name of the IANA time zone database, as the runtime knows it; not an offset such as +01:00. */
export const TimeZone = limitedText(64)
  .refine((name) => /^[A-Za-z]/.test(name) && isKnown(name), {
    error: "Must be a time zone of the IANA database, such as Europe/Paris",
  })
  .meta({ description: "Time zone, by its name in the IANA database", example: defaultTimeZone });

function isKnown(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return true;
  } catch {
    return false;
  }
}
