import { formatDecimalAmount, getCurrencyDecimals } from "@pragma/client";

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

/** Returns a part of a whole in percent with one decimal: `12.5%`. Returns `-` if the whole is zero. */
export function formatShare(part: number, whole: number): string {
  return whole === 0 ? "-" : `${(Math.round((1000 * part) / whole) / 10).toFixed(1)}%`;
}

/** Returns a local time as `2026-05-29 12:05`, or in UTC with a `Z` if the time zone is unknown; null without an instant. */
export function formatLocalTime(instant: string | null, timeZone: string | null): string | null {
  if (instant === null) return null;
  const zone = timeZone ?? "UTC";
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  return `${format.format(new Date(instant))}${timeZone === null ? "Z" : ""}`;
}

/** Returns the unit of the amounts of an answer: the currency, or minor units if it is unknown. */
export function describeAmountUnit(currency: string | null): string {
  if (currency === null) return "minor units of an unknown currency";
  return getCurrencyDecimals(currency) === undefined ? `minor units of ${currency}` : currency;
}

/** Returns an amount in minor units as a decimal number, in the unit of `describeAmountUnit`; null if there is none. */
export function formatAmount(minorUnits: number | null | undefined, currency: string | null): string | null {
  return minorUnits === null || minorUnits === undefined ? null : formatDecimalAmount(minorUnits, currency);
}

/** Returns the sum of amounts in minor units as a decimal number, in the unit of `describeAmountUnit`. */
export const formatSum = (amounts: number[], currency: string | null) =>
  formatDecimalAmount(
    amounts.reduce((sum, amount) => sum + amount, 0),
    currency,
  );
