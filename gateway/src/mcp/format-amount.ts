const defaultDecimals = 2;
const decimalsByCurrency = new Map<string, number>();
const maxKnownCurrencies = 500;

/** Returns the number of decimals of a currency, such as 2 for EUR and 0 for JPY. */
export function getCurrencyDecimals(currency: string): number {
  const known = decimalsByCurrency.get(currency);
  if (known !== undefined) return known;
  const decimals = readCurrencyDecimals(currency);
  if (decimalsByCurrency.size < maxKnownCurrencies) decimalsByCurrency.set(currency, decimals);
  return decimals;
}

function readCurrencyDecimals(currency: string): number {
  try {
    const { maximumFractionDigits } = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions();
    return maximumFractionDigits ?? defaultDecimals;
  } catch {
    return defaultDecimals;
  }
}

/**
 * Returns an amount in minor units as a decimal number without the currency: 123450 in EUR is `1234.50`. Exact. Returns minor
 * units if the currency is unknown.
 */
export function formatDecimalAmount(minorUnits: number, currency: string | null): string {
  if (currency === null) return String(minorUnits);
  const decimals = getCurrencyDecimals(currency);
  const digits = String(Math.abs(minorUnits)).padStart(decimals + 1, "0");
  const sign = minorUnits < 0 ? "-" : "";
  return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Returns the unit of amounts that `formatDecimalAmount` returns: the currency. */
export function describeAmountUnit(currency: string | null): string {
  return currency ?? "minor units of an unknown currency";
}

/** Returns an amount in minor units with its currency: `1234.50 EUR`. */
export function formatAmount(minorUnits: number | null | undefined, currency: string | null): string {
  if (minorUnits === null || minorUnits === undefined) return "none";
  return `${formatDecimalAmount(minorUnits, currency)} ${describeAmountUnit(currency)}`;
}
