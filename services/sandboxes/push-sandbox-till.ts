import type { PublicApiClient } from "@pragma/client/api-client";
import { buildSandboxCompanyNumbers } from "@pragma/contracts/siren";
import type { GeneratedTill } from "@pragma/simulator/generate-till";
import { pushGeneratedTill } from "@pragma/simulator/simulate-day";

/** Pushes a till of a sandbox. Ignores a till that already exists with other content. */
export const pushSandboxTill = (api: PublicApiClient, locationId: string, till: GeneratedTill): Promise<void> =>
  pushGeneratedTill(api, withOwnCompany(locationId, till));

/** Returns the till as that of a business of its own: sandboxes of one business would be reported together. */
export function withOwnCompany(locationId: string, till: GeneratedTill): GeneratedTill {
  const { siretCode, tvaCode } = buildSandboxCompanyNumbers(locationId);
  return { ...till, siretCode, tvaCode };
}
