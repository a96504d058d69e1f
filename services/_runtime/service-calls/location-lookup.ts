import { ApiError } from "@pragma/contracts/errors";
import type { PosApplicationName } from "@pragma/contracts/pos-application";
import { LocationRef, LocationRefWithCurrency, type Principal } from "@pragma/contracts/principal";
import { problemSchema } from "@pragma/contracts/problem";
import { hasScope } from "@pragma/contracts/scopes";
import type { ServiceName } from "@pragma/contracts/service-names";
import { z } from "zod";
import { createInvalidRequestError } from "../http/request-issues.ts";
import type { ObservabilityContext } from "../observability/request-context.ts";
import { SpanKind } from "../observability/tracing.ts";
import type { ServiceRegistry } from "./service-registry.ts";

export const locationIdQueryParameter = (
  description = "ID of the location whose data is returned. Defaults to the API key's location. Any other location requires the scope `locations:any`.",
) => z.guid().optional().meta({ description });

/** Returns the requested or, by default, the key's location. @throws `ApiError` location_forbidden, invalid_request */
export function resolveAuthorizedLocationId(principal: Principal, requestedId: string | undefined): string {
  const keyLocationId = principal.location?.id;
  const locationId = requestedId?.toLowerCase() ?? keyLocationId;
  if (locationId === undefined) {
    const message = "Is required, because this API key has no location";
    throw createInvalidRequestError([{ in: "query", path: "locationId", code: "required", message }]);
  }
  if (locationId !== keyLocationId && !hasScope(principal.scopes, "locations:any")) {
    throw new ApiError("location_forbidden", {
      detail: "`locationId` must be the ID of the API key's location. You can also omit it.",
    });
  }
  return locationId;
}

/** Returns null if the key can read all locations. @throws `ApiError` location_forbidden without a location. */
export function getReadRestrictionLocationId(principal: Principal): string | null {
  if (hasScope(principal.scopes, "locations:any")) return null;
  if (!principal.location) throw new ApiError("location_forbidden", { detail: "This API key has no location." });
  return principal.location.id;
}

export type LocationLookupClient = ReturnType<typeof createUncachedLocationLookup>;

const timeoutMs = 5_000;

/** Creates a lookup without a cache. Its functions throw `ApiError` location_not_found or service_unavailable. */
export function createUncachedLocationLookup(registry: ServiceRegistry, name: ServiceName) {
  // Throws if the internal key is missing, so that the process fails when it starts and not at the first request.
  registry.findRemoteService("accounts", name);

  async function fetchLocation(path: string, description: string, context: ObservabilityContext): Promise<unknown> {
    const operation = { name: "fetch location from accounts", kind: SpanKind.CLIENT };
    return context.runStep(operation, async ({ requestId, traceparent }) => {
      const request = { from: name, path, timeoutMs, shouldWaitForConnection: true, requestId, traceparent };
      const response = await registry.request("accounts", request);
      const body: unknown = await response.json().catch(() => undefined);
      if (response.ok) return body;
      if (problemSchema.safeParse(body).data?.code === "location_not_found") {
        throw new ApiError("location_not_found", { detail: `There is no location ${description}.` });
      }
      throw new ApiError("service_unavailable", {
        detail: "The location could not be retrieved, so the request was not processed. Retry shortly.",
        cause: new Error(`accounts returned ${response.status} for ${path}`),
      });
    });
  }

  return {
    getById: async (id: string, context: ObservabilityContext) =>
      LocationRef.parse(await fetchLocation(`/internal/locations/${id}`, id, context)),
    /** Returns the ISO 4217 code of the currency of a location; null if accounts does not know it. */
    getCurrency: async (id: string, context: ObservabilityContext) =>
      LocationRefWithCurrency.parse(await fetchLocation(`/internal/locations/${id}`, id, context)).currencyCode,
    getByLegacyId: async (application: PosApplicationName, legacyId: number, context: ObservabilityContext) => {
      const path = `/internal/locations/?application=${application}&legacyId=${legacyId}`;
      const description = `of ${application} with the legacyId ${legacyId}`;
      return LocationRef.parse(await fetchLocation(path, description, context));
    },
  };
}

/** By default, the API key's location. @throws as `resolveAuthorizedLocationId` and the lookup do. */
export async function resolveRequestedLocation(
  principal: Principal,
  requestedId: string | undefined,
  locations: LocationLookupClient,
  context: ObservabilityContext,
): Promise<LocationRef> {
  const id = resolveAuthorizedLocationId(principal, requestedId);
  return principal.location?.id === id ? principal.location : locations.getById(id, context);
}
