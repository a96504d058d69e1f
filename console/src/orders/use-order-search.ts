import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useFormats, useSession } from "../session/session-context.tsx";
import type { ListedOrder } from "./order-table.tsx";
import { createOrderMatcher } from "./search-orders.ts";

/** The most orders that a search reads, because the API has no search by table or amount: ten pages. */
export const maxSearchedOrders = 1_000;
const pageSize = 100;

interface OrderSearch {
  /** The orders that match, of those that were read so far; undefined before the first page. */
  found: ListedOrder[] | undefined;
  searchedCount: number;
  totalCount: number;
  isSearching: boolean;
  /** The URL of the request for the first page. */
  url: string | undefined;
  error: Error | null;
  goOn: () => void;
}

/** Searches the latest orders for this table, total or beginning of an ID, page by page. Later searches use these pages. */
export function useOrderSearch(
  filters: { since?: string; until?: string; reportId?: string },
  find: string,
): OrderSearch {
  const { api, key } = useSession();
  const { currency } = useFormats();
  const { data, error, isError, isFetching, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: [key.id, "orders", "search", filters],
    queryFn: async ({ pageParam: index, signal }) => {
      const query = { ...filters, index, size: pageSize };
      const { data: page, response } = await api.GET("/v1/orders", { params: { query }, signal });
      return { ...page, url: response.url };
    },
    initialPageParam: 0,
    getNextPageParam: ({ meta }, pages) =>
      pages.length < Math.min(meta.totalPage, maxSearchedOrders / pageSize) ? pages.length : undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);
  const pages = data?.pages ?? [];
  // A till that is pushed meanwhile moves orders to the next page, where they would be found again.
  const orders = new Map(pages.flatMap((page) => page.data).map((order) => [order.id, order]));
  return {
    found: data && [...orders.values()].filter(createOrderMatcher(find, currency)),
    searchedCount: orders.size,
    totalCount: pages[0]?.meta.totalCount ?? 0,
    isSearching: hasNextPage || isFetching,
    url: pages[0]?.url,
    error,
    goOn: () => void fetchNextPage(),
  };
}
