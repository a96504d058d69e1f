import { getCurrencyDecimals } from "@pragma/client";
import type { AdminApiClient } from "@pragma/client/api-client";
import type { ListedOrder } from "./order-table.tsx";

/** The most orders that a search reads, because the API has no search by table or amount: ten pages. */
export const maxSearchedOrders = 1_000;
const pageSize = 100;

interface OrderSearch {
  filters: { since?: string; until?: string; reportId?: string };
  find: string;
  currency: string | null;
  signal: AbortSignal;
}

interface FoundOrders {
  found: ListedOrder[];
  searchedCount: number;
  totalCount: number;
}

/** Returns the latest orders with this table or total. `response` is that of the first page that was read. */
export async function searchOrders(
  api: AdminApiClient,
  { filters, find, currency, signal }: OrderSearch,
): Promise<{ data: FoundOrders; response: Response }> {
  const readPage = (index: number) =>
    api.GET("/v1/orders", { params: { query: { ...filters, index, size: pageSize } }, signal });
  const { data: firstPage, response } = await readPage(0);
  const { totalPage, totalCount } = firstPage.meta;
  const laterIndexes = Array.from({ length: Math.min(totalPage, maxSearchedOrders / pageSize) }, (_, index) => index);
  // At once, because ten requests in sequence would take longer than a second.
  const laterPages = await Promise.all(laterIndexes.slice(1).map(readPage));
  // A till that is pushed meanwhile moves orders to the next page, where they would be found again.
  const orders = new Map(
    [firstPage, ...laterPages.map(({ data }) => data)].flatMap(({ data }) => data).map((order) => [order.id, order]),
  );
  const found = [...orders.values()].filter(createOrderMatcher(find, currency));
  return { data: { found, searchedCount: orders.size, totalCount }, response };
}

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
