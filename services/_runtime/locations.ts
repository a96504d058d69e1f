import type { Application } from "@pragma/contracts/application";
import { ApiError, problemSchema } from "@pragma/contracts/errors";
import { LocationFacts, type Principal } from "@pragma/contracts/principal";
import { allows } from "@pragma/contracts/scopes";
import type { ServiceName } from "@pragma/contracts/service-names";
import { z } from "zod";
import { invalidRequest } from "./faults.ts";
import type { RequestContext } from "./request-context.ts";
import type { ServiceRegistry } from "./service-registry.ts";
import { SpanKind } from "./tracing.ts";

/** The location that a query names. */
export const locationInQuery = (description = "The location of the key, unless the key may act for any") =>
  z.guid().optional().meta({ description });

/**
 * The location that a request is about: the one it names, or else the key's own.
 *
 * @throws `ApiError` location_forbidden when it names another than the key's own without `locations:any`;
 * invalid_request when it names none and the key has none.
 */
export function ownLocation(principal: Principal, asked: string | undefined): string {
  const own = principal.location?.id;
  const wanted = asked?.toLowerCase() ?? own;
  if (wanted === undefined) {
    const message = "is required: this key belongs to no location, so name one";
    throw invalidRequest([{ in: "query", path: "locationId", code: "required", message }]);
  }
  if (wanted !== own && !allows(principal.scopes, "locations:any")) {
    throw new ApiError("location_forbidden", {
      detail: "locationId must be the location of the API key, or be left out.",
    });
  }
  return wanted;
}

/** The one location whose things a key may read by id; null when it may read those of any. */
export function readableLocation(principal: Principal): string | null {
  if (allows(principal.scopes, "locations:any")) return null;
  if (!principal.location) throw new ApiError("location_forbidden", { detail: "This API key belongs to no location." });
  return principal.location.id;
}

/** The facts of locations other than the asking key's own, from the accounts service. */
export type Locations = ReturnType<typeof locationsFrom>;

const timeoutMs = 5_000;

/**
 * Locations as the accounts service knows them at the moment of asking, for the service of this name.
 *
 * Both throw `ApiError` location_not_found, or service_unavailable when accounts is away.
 */
export function locationsFrom(registry: ServiceRegistry, name: ServiceName) {
  // A missing key is found at start, and not with the first request that needs it.
  registry.remote("accounts", name);

  async function ask(path: string, sought: string, context: RequestContext): Promise<LocationFacts> {
    const operation = { name: "ask accounts for a location", kind: SpanKind.CLIENT };
    return context.step(operation, async ({ requestId, traceparent }) => {
      const response = await registry.ask("accounts", { from: name, path, timeoutMs, requestId, traceparent });
      const body: unknown = await response.json().catch(() => undefined);
      if (response.ok) return LocationFacts.parse(body);
      if (problemSchema.safeParse(body).data?.code === "location_not_found") {
        throw new ApiError("location_not_found", { detail: `There is no location ${sought}.` });
      }
      throw new ApiError("service_unavailable", {
        detail: "The location cannot be looked up at the moment. Nothing was done; try again soon.",
        cause: new Error(`accounts answered ${response.status} to ${path}`),
      });
    });
  }

  return {
    byId: (id: string, context: RequestContext) => ask(`/internal/locations/${id}`, id, context),
    byLegacyId: (application: Application, legacyId: number, context: RequestContext) =>
      ask(
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
export async function namedLocation(
  principal: Principal,
  asked: string | undefined,
  locations: Locations,
  context: RequestContext,
): Promise<LocationFacts> {
  const id = ownLocation(principal, asked);
  return principal.location?.id === id ? principal.location : locations.byId(id, context);
}
