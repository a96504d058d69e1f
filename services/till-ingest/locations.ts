import { LocationFacts } from "@pragma/contracts/account-lookups";
import type { Application } from "@pragma/contracts/application";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { problemSchema } from "@pragma/contracts/problem";
import { principalHeader } from "@pragma/runtime/principal-token";
import { currentRequestId, currentTraceparent } from "@pragma/runtime/request-context";
import type { Upstreams } from "@pragma/runtime/upstream";

/**
 * The facts of locations other than the asking key's own, from the accounts service.
 *
 * Both throw `ApiError` location_not_found, or service_unavailable when accounts is away.
 */
export interface Locations {
  byId(id: string): Promise<LocationFacts>;
  byLegacyId(application: Application, legacyId: number): Promise<LocationFacts>;
}

const patience = 5_000;

/** Who asks when this service does. */
const self: Principal = {
  keyId: "00000000-0000-0000-0000-000000000000",
  consumer: "till-ingest",
  scopes: ["internal"],
  location: null,
};

export function askAccounts(upstreams: Upstreams, sign: (principal: Principal) => Promise<string>): Locations {
  async function ask(path: string, sought: string): Promise<LocationFacts> {
    const requestId = currentRequestId();
    const traceparent = currentTraceparent();
    const response = await upstreams.to("accounts")(
      new Request(`http://accounts${path}`, {
        headers: {
          [principalHeader]: await sign(self),
          ...(requestId && { "x-request-id": requestId }),
          ...(traceparent && { traceparent }),
        },
        signal: AbortSignal.timeout(patience),
      }),
    );
    const body: unknown = await response.json().catch(() => undefined);
    if (response.ok) return LocationFacts.parse(body);
    if (problemSchema.safeParse(body).data?.code === "location_not_found") {
      throw new ApiError("location_not_found", { detail: `There is no location ${sought}.` });
    }
    throw new ApiError("service_unavailable", {
      detail: "The location cannot be looked up at the moment. Nothing was done; try again soon.",
      headers: { "retry-after": "2" },
      cause: new Error(`accounts answered ${response.status} to ${path}`),
    });
  }

  return {
    byId: (id) => ask(`/internal/locations/${id}`, id),
    byLegacyId: (application, legacyId) =>
      ask(
        `/internal/locations/?application=${application}&legacyId=${legacyId}`,
        `of ${application} with the legacyId ${legacyId}`,
      ),
  };
}
