import { getCurrencyDecimals } from "@pragma/client";
import type { ListedOrder } from "./order-table.tsx";

/** Returns a function that compares an order's table, beginning of its ID, and total with the text. */
export function createOrderMatcher(
  find: string,
  currency: string | null,
): (order: Pick<ListedOrder, "id" | "orderNumber" | "total">) => boolean {
  const wanted = find.toLowerCase();
  const amount = parseAmount(find, currency);
  return ({ id, orderNumber, total }) =>
    orderNumber?.toLowerCase() === wanted || total === amount || (wanted.length >= 6 && id.startsWith(wanted));
}

/** Returns a decimal amount, such as `12.50` or `€12,5`, in minor units; null if the text is not an amount. */
export function parseAmount(amountText: string, currency: string | null): number | null {
  const [, whole, fraction = ""] = /^[^\d-]*(-?\d+)(?:[.,](\d+))?\D*$/.exec(amountText) ?? [];
  const decimals = getCurrencyDecimals(currency ?? "EUR") ?? 0;
  if (whole === undefined || fraction.length > decimals) return null;
  return Number(whole + fraction.padEnd(decimals, "0"));
}
