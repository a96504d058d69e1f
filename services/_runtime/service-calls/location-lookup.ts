import { ApiError, problemSchema } from "@pragma/contracts/errors";
import type { PosApplication } from "@pragma/contracts/pos-application";
import { LocationRef, type Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import type { ServiceName } from "@pragma/contracts/service-names";
import { z } from "zod";
import { createInvalidRequestError } from "../http/request-issues.ts";
import type { RequestContext } from "../observability/request-context.ts";
import { SpanKind } from "../observability/tracing.ts";
import type { ServiceRegistry } from "./service-registry.ts";

/** Returns the schema of the `locationId` query parameter. */
export const locationIdQueryParameter = (
  description = "The location of the API key, unless the key has the scope locations:any",
) => z.guid().optional().meta({ description });

/**
 * Returns the id of the requested location, or else that of the API key's location.
 *
 * @throws `ApiError` location_forbidden for a location other than the key's without `locations:any`; invalid_request
 * when neither the request nor the key has a location.
 */
export function resolveLocationId(principal: Principal, requestedId: string | undefined): string {
  const keyLocationId = principal.location?.id;
  const locationId = requestedId?.toLowerCase() ?? keyLocationId;
  if (locationId === undefined) {
    const message = "Is required, because this API key has no location";
    throw createInvalidRequestError([{ in: "query", path: "locationId", code: "required", message }]);
  }
  if (locationId !== keyLocationId && !hasScope(principal.scopes, "locations:any")) {
    throw new ApiError("location_forbidden", {
      detail: "locationId must be the location of the API key. It may be omitted.",
    });
  }
  return locationId;
}

/** Returns the only location whose resources a key may read; null when it may read those of any location. */
export function getReadableLocationId(principal: Principal): string | null {
  if (hasScope(principal.scopes, "locations:any")) return null;
  if (!principal.location) throw new ApiError("location_forbidden", { detail: "This API key has no location." });
  return principal.location.id;
}

/** Looks up locations in the accounts service. */
export type LocationLookup = ReturnType<typeof createLocationLookup>;

const timeoutMs = 5_000;

/**
 * Creates a lookup of locations in the accounts service, without a cache, for the service with this name.
 *
 * @throws `ApiError` location_not_found; service_unavailable when accounts is unavailable.
 */
export function createLocationLookup(registry: ServiceRegistry, name: ServiceName) {
  // Detects a missing key at the start instead of at the first request.
  registry.findRemoteService("accounts", name);

  async function fetchLocation(path: string, description: string, context: RequestContext): Promise<LocationRef> {
    const operation = { name: "fetch location from accounts", kind: SpanKind.CLIENT };
    return context.runStep(operation, async ({ requestId, traceparent }) => {
      const response = await registry.request("accounts", { from: name, path, timeoutMs, requestId, traceparent });
      const body: unknown = await response.json().catch(() => undefined);
      if (response.ok) return LocationRef.parse(body);
      if (problemSchema.safeParse(body).data?.code === "location_not_found") {
        throw new ApiError("location_not_found", { detail: `There is no location ${description}.` });
      }
      throw new ApiError("service_unavailable", {
        detail: "The location could not be looked up. Nothing was changed. Retry shortly.",
        cause: new Error(`accounts returned ${response.status} for ${path}`),
      });
    });
  }

  return {
    getById: (id: string, context: RequestContext) => fetchLocation(`/internal/locations/${id}`, id, context),
    getByLegacyId: (application: PosApplication, legacyId: number, context: RequestContext) =>
      fetchLocation(
        `/internal/locations/?application=${application}&legacyId=${legacyId}`,
        `of ${application} with the legacyId ${legacyId}`,
        context,
      ),
  };
}

/**
 * Returns the requested location, or else that of the API key, which is part of the principal.
 *
 * @throws `ApiError` location_forbidden; location_not_found; invalid_request when neither the request nor the key has a
 * location.
 */
export async function resolveLocationRef(
  principal: Principal,
  requestedId: string | undefined,
  locations: LocationLookup,
  context: RequestContext,
): Promise<LocationRef> {
  const id = resolveLocationId(principal, requestedId);
  return principal.location?.id === id ? principal.location : locations.getById(id, context);
}
