import { formatDecimalAmount, getCurrencyDecimals } from "@pragma/client";
import { createOnce } from "./create-once.ts";

export interface FormatOptions {
  /** The time zone of the location, such as `Europe/Paris`. */
  timeZone: string;
  /** The ISO 4217 code of the location's currency; null if unknown. Amounts then have no symbol. */
  currency: string | null;
  locale?: string;
}

export type Formats = ReturnType<typeof createFormats>;

/** The locale of numbers and dates: the reader's own variant of English, because the texts are English. */
const defaultLocale = (): string => navigator.languages.find((language) => language.startsWith("en-")) ?? "en-IE";

/** An amount without a currency has the decimals of this currency. */
const currencyOfBareAmounts = "EUR";

/**
 * Returns functions that format amounts, numbers and times as readers of the location expect them. A view uses only
 * some of them, and browsers take milliseconds to create each of their formats.
 */
export function createFormats({ timeZone, currency, locale = defaultLocale() }: FormatOptions) {
  const decimals = getCurrencyDecimals(currency ?? currencyOfBareAmounts) ?? 0;
  const amountOptions = (fractionDigits: number): Intl.NumberFormatOptions => ({
    ...(currency !== null && { style: "currency", currency }),
    minimumFractionDigits: fractionDigits,
    maximumFractionDigits: fractionDigits,
  });
  const exactAmount = createOnce(() => new Intl.NumberFormat(locale, amountOptions(decimals)));
  const signedAmount = createOnce(
    () => new Intl.NumberFormat(locale, { ...amountOptions(decimals), signDisplay: "exceptZero" }),
  );
  const roundedAmount = createOnce(() => new Intl.NumberFormat(locale, amountOptions(0)));
  const numbers = createOnce(() => new Intl.NumberFormat(locale));
  const percents = createOnce(
    () =>
      new Intl.NumberFormat(locale, {
        style: "percent",
        signDisplay: "exceptZero",
        maximumFractionDigits: 1,
      }),
  );
  const rates = createOnce(() => new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 2 }));
  const shares = createOnce(() => new Intl.NumberFormat(locale, { style: "percent" }));
  const bytes = createOnce(() => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }));
  // One clock for all readers, and the one of the API: tickets and logs are compared with it.
  const at = (options: Intl.DateTimeFormatOptions) =>
    createOnce(() => new Intl.DateTimeFormat(locale, { timeZone, hourCycle: "h23", ...options }));
  const times = at({ hour: "2-digit", minute: "2-digit" });
  const timesWithSeconds = at({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const dateTimes = at({ dateStyle: "medium", timeStyle: "short" });
  const dateTimesWithSeconds = at({ dateStyle: "medium", timeStyle: "medium" });
  // A business day is a date without a time, so it has no time zone.
  const ofDay = (options: Intl.DateTimeFormatOptions) =>
    createOnce(() => new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options }));
  const days = ofDay({ weekday: "short", day: "numeric", month: "short" });
  const listedDays = ofDay({ weekday: "short", day: "numeric", month: "short", year: "numeric" });
  const daysWithYear = ofDay({ dateStyle: "medium" });
  const longDays = ofDay({ dateStyle: "full" });
  const months = ofDay({ month: "long", year: "numeric" });
  const weekdays = ofDay({ weekday: "short" });
  const dayAt = (day: string) => new Date(`${day}T00:00:00Z`);
  const isoDays = createOnce(() => new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" }));
  const relative = createOnce(() => new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }));
  // Formatting a decimal text is exact, but TypeScript's type of such texts is not that of a function's result.
  const decimal = (minorUnits: number) =>
    formatDecimalAmount(minorUnits, currency ?? currencyOfBareAmounts) as `${number}`;

  return {
    locale,
    timeZone,
    currency,
    /** An amount in minor units: 140050 becomes €1,400.50. */
    money: (minorUnits: number) => exactAmount().format(decimal(minorUnits)),
    /** A difference in minor units, with its sign: +€4.50. */
    difference: (minorUnits: number) => signedAmount().format(decimal(minorUnits)),
    /** An amount without decimals, for axes and large figures. */
    roundedMoney: (minorUnits: number) => roundedAmount().format(Math.round(minorUnits / 10 ** decimals)),
    number: (value: number) => numbers().format(value),
    /** A change in percent, such as -12.5. */
    change: (percent: number) => percents().format(percent / 100),
    /** A rate in hundredths of a percent: 1000 becomes 10%. */
    rate: (basisPoints: number) => rates().format(basisPoints / 10_000),
    /** A part of a whole, from 0 to 1: 0.4 becomes 40%. */
    share: (part: number) => shares().format(part),
    bytes(count: number): string {
      const power = count < 1_000 ? 0 : Math.min(Math.floor(Math.log10(count) / 3), 3);
      return `${bytes().format(count / 1_000 ** power)} ${["B", "kB", "MB", "GB"][power]}`;
    },
    time: (instant: string) => times().format(new Date(instant)),
    timeWithSeconds: (instant: string) => timesWithSeconds().format(new Date(instant)),
    dateTime: (instant: string) => dateTimes().format(new Date(instant)),
    dateTimeWithSeconds: (instant: string) => dateTimesWithSeconds().format(new Date(instant)),
    day: (day: string) => days().format(dayAt(day)),
    /** A day in a list that can span years. */
    listedDay: (day: string) => listedDays().format(dayAt(day)),
    /** A range of days, or the day if it has only one: Mon, May 25 – Sun, May 31, 2026. */
    dayRange: (since: string, until: string) => listedDays().formatRange(dayAt(since), dayAt(until)),
    /** A range of dates without weekdays: May 11 – 20, 2026. */
    dateRange: (since: string, until: string) => daysWithYear().formatRange(dayAt(since), dayAt(until)),
    dayWithYear: (day: string) => daysWithYear().format(dayAt(day)),
    longDay: (day: string) => longDays().format(dayAt(day)),
    /** A month as YYYY-MM: May 2026. */
    month: (month: string) => months().format(dayAt(`${month}-01`)),
    weekday: (day: string) => weekdays().format(dayAt(day)),
    /** The date of an instant at the location, as YYYY-MM-DD. */
    isoDay: (instant: Date) => isoDays().format(instant),
    /** How long ago an instant was: 3 min. ago. */
    ago(instant: string, now = Date.now()): string {
      const seconds = Math.round((Date.parse(instant) - now) / 1_000);
      const [unit, length] = relativeUnits.find(([, unitSeconds]) => Math.abs(seconds) >= unitSeconds) ?? ["second", 1];
      return relative().format(Math.round(seconds / length), unit);
    },
  };
}

const relativeUnits: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Returns the date `count` days after a date, both as YYYY-MM-DD. `count` can be negative. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * 86_400_000).toISOString().slice(0, 10);
}
