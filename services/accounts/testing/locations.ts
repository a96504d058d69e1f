import { CreatedLocation, LocationDetails } from "@pragma/contracts/location";
import type { TestAccounts } from "./start-accounts.ts";

/** A location with nothing but what is required. */
export const bistrot = {
  application: "popina",
  organizationId: "12",
  agencyId: "3",
  locationSettings: { locationName: "Le Bistrot" },
};

let lastLegacyId = 0;

/** A location of a legacy backoffice, with a legacyId that no other call gave. */
export const legacy = (changes: object = {}) => ({
  application: "POPINA",
  organizationId: "12",
  agencyId: "3",
  legacyId: ++lastLegacyId,
  ...changes,
});

/** Makes a location as the operator, and gives its id. */
export async function createLocation(accounts: TestAccounts, body: unknown = bistrot): Promise<string> {
  const request = { method: "POST", path: "/v1/locations/", body };
  return (await accounts.send(request, { status: 201, schema: CreatedLocation })).id;
}

/** Imports a location as the operator, and gives its id. */
export async function importLocation(accounts: TestAccounts, body: unknown, status = 201): Promise<string> {
  const request = { method: "POST", path: "/v1/locations/import", body };
  return (await accounts.send(request, { status, schema: CreatedLocation })).id;
}

export const detailsOf = (accounts: TestAccounts, id: string) => accounts.get(`/v1/locations/${id}`, LocationDetails);
