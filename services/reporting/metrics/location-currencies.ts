import { ApiError } from "@pragma/contracts/errors";
import { Admission } from "@pragma/runtime/admission/admission";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import { LRUCache } from "lru-cache";

const maxLocations = 10_000;
const ttlMs = 5 * 60_000;
/** The number of locations that are looked up at a time, so that a query of many does not delay other lookups. */
const maxConcurrentLookups = 8;

/** Returns the currency of each location. See `LocationLookupClient.getCurrency`. */
export type LocationCurrencies = ReturnType<typeof createLocationCurrencies>;

/**
 * Creates a lookup that remembers currencies for five minutes. While accounts is unavailable, it also returns older ones.
 */
export function createLocationCurrencies({ getCurrency }: Pick<LocationLookupClient, "getCurrency">) {
  const lookups = new Admission({ perProcess: maxConcurrentLookups });
  const cache = new LRUCache<string, { code: string | null; expiresAtMs: number }>({ max: maxLocations });

  async function find(id: string, context: ObservabilityContext): Promise<string | null> {
    const known = cache.get(id);
    if (known && performance.now() < known.expiresAtMs) return known.code;
    try {
      const code = await lookups.run(() => getCurrency(id, context));
      cache.set(id, { code, expiresAtMs: performance.now() + ttlMs });
      return code;
    } catch (error) {
      if (known && error instanceof ApiError && error.code === "service_unavailable") return known.code;
      throw error;
    }
  }
  return (locationIds: readonly string[], context: ObservabilityContext) =>
    Promise.all(locationIds.map((id) => find(id, context)));
}
