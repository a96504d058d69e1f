import { formatDecimalAmount, getCurrencyDecimals } from "@pragma/client";
import type { Row } from "./rows.ts";

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

/** The units in which an answer shows amounts and times. */
export interface Units {
  currency: string | null;
  timeZone: string | null;
}

type KeyOf<Item, Value> = { [Key in keyof Item]: Item[Key] extends Value ? Key : never }[keyof Item];

/** The fields of an object of the API that an answer contains, by their kind. */
interface Fields<Item> {
  times?: KeyOf<Item, string | null>[];
  /** Texts that people entered. */
  names?: KeyOf<Item, string | null>[];
  values?: KeyOf<Item, string | number | null>[];
  /** Tax rates in hundredths of a percent. */
  rates?: KeyOf<Item, number>[];
  amounts?: KeyOf<Item, number | null>[];
}

/** Returns fields of an object of the API, under the names that they have there, in the units of the answer. */
export function pickFields<Item extends object>(item: Item, fields: Fields<Item>, { currency, timeZone }: Units): Row {
  const { times = [], names = [], values = [], rates = [], amounts = [] } = fields;
  return Object.fromEntries([
    ...times.map((key) => [key, formatLocalTime(item[key] as string | null, timeZone)]),
    ...names.map((key) => [key, item[key] && cleanText(item[key] as string)]),
    ...values.map((key) => [key, item[key]]),
    ...rates.map((key) => [key, `${(item[key] as number) / 100}%`]),
    ...amounts.map((key) => [key, formatAmount(item[key] as number | null, currency)]),
  ]);
}
