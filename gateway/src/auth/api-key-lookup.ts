import { ApiError } from "@pragma/contracts/errors";
import { ResolvedApiKey } from "@pragma/contracts/principal";
import type { ServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import type { ApiKeyLookup } from "./api-key-cache.ts";

const lookupTimeoutMs = 2_000;

/**
 * Returns a function that looks up API keys in the accounts service. The function rejects with `ApiError`
 * service_unavailable if the lookup fails or times out.
 */
export function createUncachedApiKeyLookup(registry: ServiceRegistry): ApiKeyLookup {
  return async (hash) => {
    try {
      const response = await registry.request("accounts", {
        from: "gateway",
        path: `/internal/keys/${hash}`,
        timeoutMs: lookupTimeoutMs,
        shouldWaitForConnection: true,
      });
      if (response.status === 404) return null;
      if (response.status !== 200) throw new Error(`accounts responded ${response.status}: ${await response.text()}`);
      const { revokedAt, expiresAt, rateLimit, ...principal } = ResolvedApiKey.parse(await response.json());
      const isRevoked = revokedAt !== null;
      return { principal, rateLimit, isRevoked, expiresAt: expiresAt === null ? null : Date.parse(expiresAt) };
    } catch (cause) {
      throw new ApiError("service_unavailable", {
        detail: "API keys cannot be verified at the moment. The request was not processed. Retry shortly.",
        cause,
      });
    }
  };
}
