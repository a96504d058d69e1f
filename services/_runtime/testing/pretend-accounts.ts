import { randomUUID } from "node:crypto";
import { ApiError, problemOf } from "@pragma/contracts/errors";
import type { LocationFacts } from "@pragma/contracts/principal";
import type { Caller, ServiceFetch } from "../caller.ts";

/** Stands in for the accounts service, which answers other services what it knows of a location. */
export interface PretendAccounts {
  answer: ServiceFetch;
  /** Makes a location known, and gives its facts. */
  know(facts?: Partial<LocationFacts>): LocationFacts;
  /** Whether every question is answered that something is wrong. */
  areAway: boolean;
}

export function pretendAccounts(): PretendAccounts {
  const known: LocationFacts[] = [];

  function find(url: string, caller: Caller | undefined): LocationFacts {
    if (!caller?.principal.scopes.includes("internal:locations")) throw new ApiError("scope_missing");
    if (accounts.areAway) throw new ApiError("service_unavailable");
    const { pathname, searchParams } = new URL(url);
    const id = /^\/internal\/locations\/([^/]+)$/.exec(pathname)?.[1];
    const found = known.find((location) =>
      id === undefined
        ? location.application === searchParams.get("application") &&
          location.legacyId === Number(searchParams.get("legacyId"))
        : location.id === id,
    );
    if (!found) throw new ApiError("location_not_found");
    return found;
  }

  const accounts: PretendAccounts = {
    areAway: false,
    know(facts = {}) {
      const location: LocationFacts = {
        id: randomUUID(),
        application: "POPINA",
        legacyId: null,
        timeZone: "Europe/Paris",
        ...facts,
      };
      known.push(location);
      return location;
    },
    async answer({ url }, { caller } = {}) {
      try {
        return Response.json(find(url, caller));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return Response.json(problemOf(error, "test"), { status: error.status });
      }
    },
  };
  return accounts;
}
