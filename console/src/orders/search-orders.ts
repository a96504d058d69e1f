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
  const matches = createOrderMatcher(find, currency);
  const found: ListedOrder[] = [];
  const readPage = (pageToken: string | null) =>
    api.GET("/v1/orders", {
      params: { query: { ...filters, size: pageSize, ...(pageToken !== null && { pageToken }) } },
      signal,
    });
  const { data: firstPage, response } = await readPage(null);
  let searchedCount = 0;
  for (let page = firstPage; ; page = (await readPage(page.nextPageToken)).data) {
    searchedCount += page.data.length;
    found.push(...page.data.filter(matches));
    if (page.nextPageToken === null || searchedCount >= maxSearchedOrders)
      return { data: { found, searchedCount, totalCount: firstPage.meta.totalCount }, response };
  }
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
