import { KeyFacts } from "@pragma/contracts/account-lookups";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { type PrincipalSigner, principalHeader } from "@pragma/runtime/principal-token";
import type { Upstreams } from "@pragma/runtime/upstream";
import type { KeyLookup } from "./key-cache.ts";

/** As whom the gateway asks accounts. */
const gateway: Principal = {
  keyId: "00000000-0000-0000-0000-000000000000",
  consumer: "gateway",
  scopes: ["internal"],
  location: null,
};

/** How long accounts may take to answer, in milliseconds. */
const patience = 2_000;

/** Looks keys up at accounts. Rejects with service_unavailable when it cannot be asked, or not in time. */
export function createKeyLookup(upstreams: Upstreams, sign: PrincipalSigner): KeyLookup {
  const accounts = upstreams.to("accounts");
  return async (hash) => {
    const timeout = AbortSignal.timeout(patience);
    try {
      const request = new Request(`http://accounts/internal/keys/${hash}`, {
        headers: { [principalHeader]: await sign(gateway) },
        signal: timeout,
      });
      const reply = await Promise.race([accounts(request), outOfPatience(timeout)]);
      if (reply.status === 404) return null;
      if (reply.status !== 200) throw new Error(`accounts answered ${reply.status}: ${await reply.text()}`);
      const { revokedAt, rateLimit, ...principal } = KeyFacts.parse(await reply.json());
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

/** A service in this process is not cut off by a signal: it is no longer waited for. */
function outOfPatience(timeout: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    timeout.addEventListener("abort", () => reject(new Error(`accounts did not answer within ${patience} ms`)));
  });
}
