import { useApi } from "../api/use-api.ts";
import type { CurrentKey } from "../session/session.ts";
import { useSession } from "../session/session-context.tsx";

/**
 * Returns the rate limit of consumers without one of their own. The API states it only for the signed-in key, so it is
 * undefined if the consumer of that key has its own rate limit, and until it is loaded.
 */
export function useDefaultRateLimit(): CurrentKey["rateLimit"] | undefined {
  const { consumer, rateLimit } = useSession().key;
  const query = useApi(["consumers", "own"], (api) =>
    api.GET("/v1/consumers", { params: { query: { name: consumer.name, size: 100 } } }),
  );
  const own = query.data?.data.data.find(({ id }) => id === consumer.id);
  return own?.rateLimit === null ? rateLimit : undefined;
}
