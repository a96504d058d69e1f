import { LocationFacts } from "@pragma/contracts/account-lookups";
import type { Application } from "@pragma/contracts/application";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { problemSchema } from "@pragma/contracts/problem";
import type { ServiceName } from "@pragma/contracts/service-names";
import { ownLocation } from "./own-location.ts";
import { type PrincipalSigner, principalHeader } from "./principal-token.ts";
import { currentRequestId, currentTraceparent, step } from "./request-context.ts";
import { SpanKind } from "./tracing.ts";
import type { Upstreams } from "./upstream.ts";

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

interface Asking {
  /** The service that asks. */
  name: ServiceName;
  sign: PrincipalSigner;
}

/** Locations as the accounts service knows them at the moment of asking. */
export function askAccounts(upstreams: Upstreams, { name, sign }: Asking): Locations {
  const self: Principal = {
    keyId: "00000000-0000-0000-0000-000000000000",
    consumer: name,
    scopes: ["internal"],
    location: null,
  };

  async function ask(path: string, sought: string): Promise<LocationFacts> {
    return step({ name: "ask accounts for a location", kind: SpanKind.CLIENT }, () => askInStep(path, sought));
  }

  async function askInStep(path: string, sought: string): Promise<LocationFacts> {
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

/**
 * The location that a write is about: the one that it names, or else the key's own, whose facts the principal carries.
 *
 * @throws `ApiError` location_forbidden, location_not_found, invalid_request (a key without location that names none).
 */
export async function namedLocation(
  principal: Principal,
  asked: string | undefined,
  locations: Locations,
): Promise<LocationFacts> {
  const id = ownLocation(principal, asked);
  return principal.location?.id === id ? principal.location : locations.byId(id);
}
