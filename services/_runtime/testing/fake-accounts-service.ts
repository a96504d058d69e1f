import { randomUUID } from "node:crypto";
import { ApiError, toProblemDetails } from "@pragma/contracts/errors";
import type { LocationRef } from "@pragma/contracts/principal";
import type { RequestIdentity, ServiceFetch } from "../http/request-identity.ts";

/** Stands in for the accounts service, which answers other services what it knows of a location. */
export interface FakeAccountsService {
  fetch: ServiceFetch;
  /** Makes a location known, and gives its facts. */
  addLocation(fields?: Partial<LocationRef>): LocationRef;
  /** Whether every question is answered that something is wrong. */
  isUnavailable: boolean;
}

export function createFakeAccountsService(): FakeAccountsService {
  const locations: LocationRef[] = [];

  function findLocation(url: string, caller: RequestIdentity | undefined): LocationRef {
    if (!caller?.principal.scopes.includes("internal:locations")) throw new ApiError("scope_missing");
    if (accounts.isUnavailable) throw new ApiError("service_unavailable");
    const { pathname, searchParams } = new URL(url);
    const id = /^\/internal\/locations\/([^/]+)$/.exec(pathname)?.[1];
    const found = locations.find((location) =>
      id === undefined
        ? location.application === searchParams.get("application") &&
          location.legacyId === Number(searchParams.get("legacyId"))
        : location.id === id,
    );
    if (!found) throw new ApiError("location_not_found");
    return found;
  }

  const accounts: FakeAccountsService = {
    isUnavailable: false,
    addLocation(facts = {}) {
      const location: LocationRef = {
        id: randomUUID(),
        application: "POPINA",
        legacyId: null,
        timeZone: "Europe/Paris",
        ...facts,
      };
      locations.push(location);
      return location;
    },
    async fetch({ url }, { caller } = {}) {
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
