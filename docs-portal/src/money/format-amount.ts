/** The locale of all amounts, dates and numbers of the site. */
export const siteLocale = "en-IE";

interface AmountOptions {
  /** Whether only whole units are shown, such as €2,809. */
  isRounded?: boolean;
}

const formats = new Map<string, Intl.NumberFormat>();

/**
 * Formats an amount in minor units of a currency. Examples: 280903 EUR becomes €2,809.03, and 1200 JPY becomes
 * JP¥1,200. Without a currency, an amount has two decimals and no symbol.
 */
export function formatCurrencyAmount(
  minorUnits: number,
  currency: string | null,
  { isRounded = false }: AmountOptions = {},
): string {
  const key = `${currency} ${isRounded}`;
  const format = formats.get(key) ?? new Intl.NumberFormat(siteLocale, describeFormat(currency, isRounded));
  formats.set(key, format);
  return format.format(minorUnits / 10 ** countDecimals(currency));
}

/** Formats an amount in cents as euros. Example: 280903 becomes €2,809.03. */
export function formatEuroAmount(minorUnits: number): string {
  return formatCurrencyAmount(minorUnits, "EUR");
}

function describeFormat(currency: string | null, isRounded: boolean): Intl.NumberFormatOptions {
  const decimals = isRounded ? 0 : countDecimals(currency);
  return {
    ...(currency !== null && { style: "currency", currency }),
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  };
}

/** Returns how many decimals the minor unit of a currency has: 2 for EUR, 0 for JPY, and 3 for TND. */
function countDecimals(currency: string | null): number {
  if (currency === null) return 2;
  const { maximumFractionDigits } = new Intl.NumberFormat(siteLocale, {
    style: "currency",
    currency,
  }).resolvedOptions();
  return maximumFractionDigits ?? 2;
}
