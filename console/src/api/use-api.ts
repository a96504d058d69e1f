import type { AdminApiClient } from "@pragma/client/api-client";
import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useSession } from "../session/session-context.tsx";

/** A response with the request that returns it again. */
export interface ApiResponse<Data> {
  data: Data;
  /** The URL of the request, with its query. */
  url: string;
}

interface ApiQueryOptions<Data> {
  /** Requests again after this time while the view is visible, in milliseconds. */
  refetchMs?: number | ((data: Data) => number) | undefined;
  isEnabled?: boolean | undefined;
}

/**
 * Reads from the API. `key` names everything that the request depends on. Before the next page or filter has its response,
 * the previous one remains. A request is canceled only if it uses `signal`: the API counts canceled requests as failed.
 */
export function useApi<Data>(
  key: readonly unknown[],
  call: (api: AdminApiClient, context: { signal: AbortSignal }) => Promise<{ data: Data; response: Response }>,
  { refetchMs, isEnabled = true }: ApiQueryOptions<Data> = {},
): UseQueryResult<ApiResponse<Data>> {
  const { api, key: apiKey } = useSession();
  return useQuery({
    queryKey: [apiKey.id, ...key],
    queryFn: async (context) => {
      const { data, response } = await call(api, context);
      return { data, url: response.url };
    },
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) =>
      typeof refetchMs === "function" ? data !== undefined && refetchMs(data.data) : (refetchMs ?? false),
  });
}
