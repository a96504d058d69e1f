import { formatDecimalAmount, getCurrencyDecimals } from "../../../contracts/currency.ts";

/** The locale of all amounts, dates and numbers of the site. */
export const siteLocale = "en-IE";

interface AmountOptions {
  /** Whether only whole units are shown, such as €2,809. */
  isRounded?: boolean;
}

/** An amount without a currency has the decimals of this currency. */
const currencyOfBareAmounts = "EUR";

const formats = new Map<string, Intl.NumberFormat>();

/**
 * Formats an amount in minor units of a currency. Examples: 280903 EUR becomes €2,809.03, and 1200 JPY becomes
 * JP¥1,200. Without a currency, an amount has two decimals and no symbol. Exact, because the browser formats a decimal
 * text.
 */
export function formatCurrencyAmount(
  minorUnits: number,
  currency: string | null,
  { isRounded = false }: AmountOptions = {},
): string {
  const key = `${currency} ${isRounded}`;
  const format = formats.get(key) ?? new Intl.NumberFormat(siteLocale, describeFormat(currency, isRounded));
  formats.set(key, format);
  // The positions of an axis can be fractions of a minor unit.
  const amount = isRounded ? Math.round(minorUnits) : minorUnits;
  // TypeScript's type of decimal texts does not include the results of a function that returns a string.
  return format.format(formatDecimalAmount(amount, currency ?? currencyOfBareAmounts) as `${number}`);
}

/** Formats an amount in cents as euros. Example: 280903 becomes €2,809.03. */
export function formatEuroAmount(minorUnits: number): string {
  return formatCurrencyAmount(minorUnits, "EUR");
}

function describeFormat(currency: string | null, isRounded: boolean): Intl.NumberFormatOptions {
  const decimals = isRounded ? 0 : (getCurrencyDecimals(currency ?? currencyOfBareAmounts) ?? 0);
  return {
    ...(currency !== null && { style: "currency", currency }),
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  };
}
