import { createAdminApiClient } from "@pragma/client/api-client";
import type { ApiScope } from "@pragma/contracts/scopes";
import { defaultTimeZone } from "@pragma/contracts/time-zone";
import type { PragmaUnderTest } from "../harness/pragma-under-test.ts";
import { createExampleRecorder, type DocumentationExampleRecorder } from "./example-recorder.ts";
import { lunchTill } from "./lunch-till.ts";

/** The location in the guides for those who push: an application that pushes its tills, its catalog and its jobs. */
export interface PushGuideLocation {
  locationId: string;
  recorder: DocumentationExampleRecorder;
}

/** The id of the location in its legacy backoffice. V1 tills name their location with this id. */
export const pushGuideLegacyId = 42;

/** The time of all responses: a few seconds after the shift was closed. */
const responseTime = "2026-06-01T13:10:04.000Z";

const posScopes: ApiScope[] = [
  "reports:read",
  "orders:read",
  "orders:write",
  "catalog:read",
  "catalog:write",
  "locations:read",
  "tills:read",
  "tills:write",
  "jobs:write",
];

export async function createPushGuideLocation(product: PragmaUnderTest): Promise<PushGuideLocation> {
  const admin = createAdminApiClient({ baseUrl: product.url, apiKey: product.adminKey });
  const { data: location } = await admin.POST("/v1/locations/import", {
    body: { organizationId: "2", agencyId: "2", legacyId: pushGuideLegacyId, application: "POPINA" },
  });
  const locationName = lunchTill.establishmentName ?? "Demo";
  await admin.PATCH("/v1/locations/{id}", {
    params: { path: { id: location.id } },
    body: { locationSettings: { locationName, timezone: defaultTimeZone } },
  });
  const consumerName = "Point of sale";
  const { data: consumer } = await admin.POST("/v1/consumers", { body: { name: consumerName } });
  await admin.PATCH("/v1/consumers/{id}", { params: { path: { id: consumer.id } }, body: { scopes: posScopes } });
  const { data: created } = await admin.POST("/v1/auth/keys", { body: { locationId: location.id, consumerName } });
  const recorder = createExampleRecorder(product.url, () => created.apiKey);
  recorder.setTime(responseTime);
  return { locationId: location.id, recorder };
}
