import { randomUUID } from "node:crypto";
import { ApiError, toProblemDetails } from "@pragma/contracts/errors";
import type { LocationRef, LocationRefWithCurrency } from "@pragma/contracts/principal";
import type { RequestPrincipalAndMetadata, ServiceAppFetch } from "../http/request-identity.ts";

/** A fake of the accounts service with the internal routes to look up locations. */
export interface FakeLocationLookupService {
  fetch: ServiceAppFetch;
  /** Adds a location and returns it. */
  addLocation(fields?: Partial<LocationRefWithCurrency>): LocationRef;
  /** Whether all requests fail with service_unavailable. */
  isUnavailable: boolean;
}

export function createFakeLocationLookupService(): FakeLocationLookupService {
  const locations: LocationRefWithCurrency[] = [];

  function findLocation(url: string, caller: RequestPrincipalAndMetadata | undefined): LocationRef {
    if (!caller?.principal.scopes.includes("internal:locations")) throw new ApiError("scope_missing");
    if (accounts.isUnavailable) throw new ApiError("service_unavailable");
    const { pathname, searchParams } = new URL(url);
    const id = /^\/internal\/locations\/([^/]+)$/.exec(pathname)?.[1];
    const location = locations.find((candidate) =>
      id === undefined
        ? candidate.application === searchParams.get("application") &&
          candidate.legacyId === Number(searchParams.get("legacyId"))
        : candidate.id === id,
    );
    if (!location) throw new ApiError("location_not_found");
    return location;
  }

  const accounts: FakeLocationLookupService = {
    isUnavailable: false,
    addLocation(fields = {}) {
      const location: LocationRefWithCurrency = {
        currencyCode: "EUR",
        id: randomUUID(),
        application: "POPINA",
        legacyId: null,
        timeZone: "Europe/Paris",
        ...fields,
      };
      locations.push(location);
      return location;
    },
    async fetch({ url }, { requestIdentity: caller } = {}) {
      try {
        return Response.json(findLocation(url, caller));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return Response.json(toProblemDetails(error, "test"), { status: error.status });
      }
    },
  };
  return accounts;
}
