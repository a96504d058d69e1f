import { CreatedLocation, LocationDetails } from "@pragma/contracts/location";
import type { TestAccountsService } from "./start-test-accounts.ts";

/** The body of a request that creates a location, with only the required fields. */
export const minimalLocationBody = {
  application: "popina",
  organizationId: "12",
  agencyId: "3",
  locationSettings: { locationName: "Le Bistrot" },
};

let lastLegacyId = 0;

/** Returns the body of a request that imports a legacy location. Each call returns a new legacyId. */
export const createLegacyLocationImportBody = (changes: object = {}) => ({
  application: "POPINA",
  organizationId: "12",
  agencyId: "3",
  legacyId: ++lastLegacyId,
  ...changes,
});

/** Creates a location as the operator and returns its id. */
export async function createTestLocation(
  accounts: TestAccountsService,
  body: unknown = minimalLocationBody,
): Promise<string> {
  const request = { method: "POST", path: "/v1/locations/", body };
  return (await accounts.sendJson(request, { status: 201, schema: CreatedLocation })).id;
}

/** Imports a location as the operator and returns its id. */
export async function importTestLocation(accounts: TestAccountsService, body: unknown, status = 201): Promise<string> {
  const request = { method: "POST", path: "/v1/locations/import", body };
  return (await accounts.sendJson(request, { status, schema: CreatedLocation })).id;
}

export const fetchTestLocationDetails = (accounts: TestAccountsService, id: string) =>
  accounts.getJson(`/v1/locations/${id}`, LocationDetails);
