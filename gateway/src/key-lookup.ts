import { ApiError } from "@pragma/contracts/errors";
import { KeyFacts } from "@pragma/contracts/principal";
import type { ServiceRegistry } from "@pragma/runtime/service-registry";
import type { KeyLookup } from "./key-cache.ts";

const timeoutMs = 2_000;

/** Looks keys up at accounts. Rejects with service_unavailable when it cannot be asked, or not in time. */
export function createKeyLookup(registry: ServiceRegistry): KeyLookup {
  return async (hash) => {
    try {
      const response = await registry.ask("accounts", { from: "gateway", path: `/internal/keys/${hash}`, timeoutMs });
      if (response.status === 404) return null;
      if (response.status !== 200) throw new Error(`accounts answered ${response.status}: ${await response.text()}`);
      const { revokedAt, rateLimit, ...principal } = KeyFacts.parse(await response.json());
      return { principal, rateLimit, isRevoked: revokedAt !== null };
    } catch (cause) {
      throw new ApiError("service_unavailable", {
        detail: "API keys cannot be checked at the moment. Nothing was done; try again in a moment.",
        headers: { "retry-after": "2" },
        cause,
      });
    }
  };
}
