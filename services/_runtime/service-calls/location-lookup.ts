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

/** The location that a query names. */
export const locationIdQueryParam = (description = "The location of the key, unless the key may act for any") =>
  z.guid().optional().meta({ description });

/**
 * The location that a request is about: the one it names, or else the key's own.
 *
 * @throws `ApiError` location_forbidden when it names another than the key's own without `locations:any`;
 * invalid_request when it names none and the key has none.
 */
export function resolveLocationId(principal: Principal, requestedId: string | undefined): string {
  const keyLocationId = principal.location?.id;
  const locationId = requestedId?.toLowerCase() ?? keyLocationId;
  if (locationId === undefined) {
    const message = "is required: this key belongs to no location, so name one";
    throw createInvalidRequestError([{ in: "query", path: "locationId", code: "required", message }]);
  }
  if (locationId !== keyLocationId && !hasScope(principal.scopes, "locations:any")) {
    throw new ApiError("location_forbidden", {
      detail: "locationId must be the location of the API key, or be left out.",
    });
  }
  return locationId;
}

/** The one location whose things a key may read by id; null when it may read those of any. */
export function getReadableLocationId(principal: Principal): string | null {
  if (hasScope(principal.scopes, "locations:any")) return null;
  if (!principal.location) throw new ApiError("location_forbidden", { detail: "This API key belongs to no location." });
  return principal.location.id;
}

/** The facts of locations other than the asking key's own, from the accounts service. */
export type LocationLookup = ReturnType<typeof createLocationLookup>;

const timeoutMs = 5_000;

/**
 * Locations as the accounts service knows them at the moment of asking, for the service of this name.
 *
 * Both throw `ApiError` location_not_found, or service_unavailable when accounts is away.
 */
export function createLocationLookup(registry: ServiceRegistry, name: ServiceName) {
  // A missing key is found at start, and not with the first request that needs it.
  registry.remote("accounts", name);

  async function fetchLocation(path: string, description: string, context: RequestContext): Promise<LocationRef> {
    const operation = { name: "ask accounts for a location", kind: SpanKind.CLIENT };
    return context.runStep(operation, async ({ requestId, traceparent }) => {
      const response = await registry.request("accounts", { from: name, path, timeoutMs, requestId, traceparent });
      const body: unknown = await response.json().catch(() => undefined);
      if (response.ok) return LocationRef.parse(body);
      if (problemSchema.safeParse(body).data?.code === "location_not_found") {
        throw new ApiError("location_not_found", { detail: `There is no location ${description}.` });
      }
      throw new ApiError("service_unavailable", {
        detail: "The location cannot be looked up at the moment. Nothing was done; try again soon.",
        cause: new Error(`accounts answered ${response.status} to ${path}`),
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
 * The location that a write is about: the one that it names, or else the key's own, whose facts the principal carries.
 *
 * @throws `ApiError` location_forbidden, location_not_found, invalid_request (a key without location that names none).
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
