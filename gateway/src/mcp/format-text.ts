/** Maximum length of a name in an answer. Longer names are cut. */
const maxNameLength = 60;

/**
 * Returns a text from a point of sale on one line, without the separator of columns, and cut to a maximum length, so that
 * it cannot look like another part of the answer.
 */
export function cleanText(text: string | null | undefined, fallback = "(no name)", maxLength = maxNameLength): string {
  const clean = (text ?? "")
    .replace(/[\p{C}\p{Z}\s]+/gu, " ")
    .replaceAll("|", "/")
    .trim();
  if (clean === "") return fallback;
  const characters = [...clean];
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join("")}…` : clean;
}

/** Returns a number of things: `1 order`, `2 orders`. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

/** Returns a part of a whole in percent with one decimal: `12.5%`. Returns `-` if the whole is zero. */
export function formatShare(part: number, whole: number): string {
  return whole === 0 ? "-" : `${(Math.round((1000 * part) / whole) / 10).toFixed(1)}%`;
}

/** Returns a local time as `2026-05-29 12:05`, or in UTC with a `Z` if the time zone is unknown. */
export function formatLocalTime(instant: string | null, timeZone: string | null): string {
  if (instant === null) return "-";
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: timeZone ?? "UTC",
    dateStyle: "short",
    timeStyle: "short",
  });
  return `${format.format(new Date(instant))}${timeZone === null ? "Z" : ""}`;
}
