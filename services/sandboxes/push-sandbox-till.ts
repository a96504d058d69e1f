import type { PublicApiClient } from "@pragma/client/api-client";
import type { GeneratedTill } from "@pragma/simulator/generate-till";
import { pushGeneratedTill } from "@pragma/simulator/simulate-day";
import { buildCompanyNumbers } from "@pragma/simulator/siret";

/** Pushes a till of a sandbox. Ignores a till that already exists with other content. */
export const pushSandboxTill = (api: PublicApiClient, locationId: string, till: GeneratedTill): Promise<void> =>
  pushGeneratedTill(api, withOwnCompany(locationId, till));

/** Returns the till as that of a business of its own: sandboxes of one business would be reported together. */
export const withOwnCompany = (locationId: string, till: GeneratedTill): GeneratedTill => ({
  ...till,
  siretCode: buildCompanyNumbers(Number.parseInt(locationId.slice(0, 8), 16)).siretCode,
});
