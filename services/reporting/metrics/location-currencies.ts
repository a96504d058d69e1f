import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import { LRUCache } from "lru-cache";

const maxLocations = 10_000;
const ttlMs = 5 * 60_000;
/** The number of locations that are looked up at a time, so that a query of many does not delay other lookups. */
const maxConcurrentLookups = 8;

/** Returns the currency of each location. See `LocationLookupClient.getCurrency`. */
export type LocationCurrencies = (
  locationIds: readonly string[],
  context: ObservabilityContext,
) => Promise<(string | null)[]>;

/**
 * Creates a lookup that remembers currencies for five minutes. While accounts is unavailable, it also returns older ones.
 */
export function createLocationCurrencies({
  getCurrency,
}: Pick<LocationLookupClient, "getCurrency">): LocationCurrencies {
  const semaphore = createKeyedSemaphore(maxConcurrentLookups);
  const cache = new LRUCache<string, { code: string | null }, ObservabilityContext>({
    max: maxLocations,
    ttl: ttlMs,
    allowStaleOnFetchRejection: true,
    noDeleteOnFetchRejection: true,
    fetchMethod: async (id, _, { context }) => semaphore.run(async () => ({ code: await getCurrency(id, context) })),
  });
  return (locationIds, context) =>
    Promise.all(locationIds.map(async (id) => (await cache.fetch(id, { context }))?.code ?? null));
}
