import { CreateLocationResponse, LocationDetails } from "@pragma/contracts/location";
import type { AccountsServiceUnderTest } from "./start-test-accounts.ts";

/** The body of a request that creates a location, with only the required fields. */
export const minimalCreateLocationTestBody = {
  application: "popina",
  organizationId: "12",
  agencyId: "3",
  locationSettings: { locationName: "Le Bistrot" },
};

let lastLegacyId = 0;

/** Returns the body of a request that imports a legacy location. Each call returns a new legacyId. */
export const buildLocationImport = (changes: object = {}) => ({
  application: "POPINA",
  organizationId: "12",
  agencyId: "3",
  legacyId: ++lastLegacyId,
  ...changes,
});

/** Creates a location as the operator and returns its id. */
export async function createTestLocationAndGetId(
  accounts: AccountsServiceUnderTest,
  body: unknown = minimalCreateLocationTestBody,
): Promise<string> {
  const request = { method: "POST", path: "/v1/locations/", body };
  return (await accounts.sendJson(request, { status: 201, schema: CreateLocationResponse })).id;
}

/** Imports a location as the operator and returns its id. */
export async function importTestLocation(
  accounts: AccountsServiceUnderTest,
  body: unknown,
  status = 201,
): Promise<string> {
  const request = { method: "POST", path: "/v1/locations/import", body };
  return (await accounts.sendJson(request, { status, schema: CreateLocationResponse })).id;
}

export const fetchTestLocationDetails = (accounts: AccountsServiceUnderTest, id: string) =>
  accounts.getJson(`/v1/locations/${id}`, LocationDetails);
