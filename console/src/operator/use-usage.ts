import { readAllPages } from "../api/read-all-pages.ts";
import { useApi } from "../api/use-api.ts";
import { listPeriods, type UsageRange } from "../requests/usage-range.ts";

export interface UsageNumbers {
  requestCount: number;
  failedCount: number;
}

/**
 * Returns a function that returns the numbers of requests of a location or consumer in the range; undefined until they are
 * read, and null if there are too many of them to be sure.
 */
export function useUsageOf(grouping: "location" | "consumer", range: UsageRange, includesSandboxes: boolean) {
  const query = useApi(["usage", grouping, range.name, includesSandboxes], (api) => {
    const since = listPeriods(range, Date.now())[0] ?? "";
    const { granularity } = range;
    return readAllPages((page) =>
      api.GET("/v1/usage", {
        params: {
          query: {
            ...page,
            groupBy: grouping,
            granularity,
            since,
            ...(includesSandboxes && { includeSandboxes: "true" }),
          },
        },
      }),
    );
  });
  const counts = query.data && new Map(query.data.data.items.map((each) => [each[`${grouping}Id`], each]));
  return (id: string): UsageNumbers | null | undefined => {
    const none = query.data?.data.isComplete ? { requestCount: 0, failedCount: 0 } : null;
    return counts && (counts.get(id) ?? none);
  };
}
