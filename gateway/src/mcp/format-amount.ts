import { formatDecimalAmount, getCurrencyDecimals } from "@pragma/contracts/currency";

/** Returns the unit of amounts that `formatDecimalAmount` returns: the currency, or minor units if it is unknown. */
export function describeAmountUnit(currency: string | null): string {
  if (currency === null) return "minor units of an unknown currency";
  return getCurrencyDecimals(currency) === undefined ? `minor units of ${currency}` : currency;
}

/** Returns an amount in minor units with its currency: `1234.50 EUR`. */
export function formatAmount(minorUnits: number | null | undefined, currency: string | null): string {
  if (minorUnits === null || minorUnits === undefined) return "none";
  return `${formatDecimalAmount(minorUnits, currency)} ${describeAmountUnit(currency)}`;
}
