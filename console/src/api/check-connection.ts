import type { Session } from "../session/session.ts";

/** The first part of the key of the query that `checkConnection` sends. */
export const connectionKey = "connection";

/**
 * Sends a small request, from whose outcome `ConnectionNotice` learns whether the API responds. Returns whether the request
 * succeeded.
 */
export const checkConnection = ({ api, queryClient }: Pick<Session, "api" | "queryClient">): Promise<boolean> =>
  queryClient
    .fetchQuery({
      queryKey: [connectionKey],
      queryFn: async () => (await api.GET("/v1/auth/keys/current")).data,
      staleTime: 0,
    })
    .then(
      () => true,
      () => false,
    );
