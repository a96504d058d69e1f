import { createAdminApiClient } from "@pragma/client/api-client";
import type { ApiScope } from "@pragma/contracts/scopes";
import { defaultTimeZone } from "@pragma/contracts/time-zone";
import { eventually } from "@pragma/runtime/testing/eventually";
import { documentationHomePageDay, generateExampleTill } from "@pragma/simulator/demo-location";
import type { PragmaUnderTest } from "../harness/pragma-under-test.ts";
import { documentationEdgeCaseTill } from "./edge-case-till.ts";
import { createExampleRecorder, type DocumentationExampleRecorder } from "./example-recorder.ts";

/** The location in the examples of the documentation. It has three days of demo data and one day of edge cases. */
export interface DocumentationExampleLocation {
  locationId: string;
  /** An API key of the location with the scopes that a partner can have. */
  key: string;
  adminKey: string;
  recorder: DocumentationExampleRecorder;
  /** Creates a consumer with these scopes and an API key of this consumer for the location. Returns the key. */
  createKey(consumerName: string, scopes: ApiScope[]): Promise<string>;
}

const exampleDays = ["2026-05-28", "2026-05-29", documentationHomePageDay];

/** The till from which the report on the home page is computed. */
export const documentationHomePageTill = generateExampleTill(documentationHomePageDay);

const partnerScopes: ApiScope[] = [
  "reports:read",
  "orders:read",
  "orders:write",
  "catalog:read",
  "locations:read",
  "tills:read",
  "tills:write",
  "webhooks:write",
];

export async function createExampleLocation(product: PragmaUnderTest): Promise<DocumentationExampleLocation> {
  const admin = createAdminApiClient({ baseUrl: product.url, apiKey: product.adminKey });
  const newLocation = { organizationId: "1", agencyId: "1", legacyId: 990_001, application: "POPINA" } as const;
  const { data: location } = await admin.POST("/v1/locations/import", { body: newLocation });
  const { establishmentName, siretCode, companyName, address1, zipCode, city, country, phoneNumber, tvaCode, nafCode } =
    documentationHomePageTill;
  await admin.PATCH("/v1/locations/{id}", {
    params: { path: { id: location.id } },
    body: {
      locationSettings: {
        locationName: establishmentName ?? "Demo",
        timezone: defaultTimeZone,
        ...{
          establishmentName,
          siretCode,
          companyName,
          address1,
          zipCode,
          city,
          country,
          phoneNumber,
          tvaCode,
          nafCode,
        },
      },
    },
  });

  async function createKey(consumerName: string, scopes: ApiScope[]): Promise<string> {
    const { data: consumer } = await admin.POST("/v1/consumers", { body: { name: consumerName } });
    await admin.PATCH("/v1/consumers/{id}", { params: { path: { id: consumer.id } }, body: { scopes } });
    const { data: created } = await admin.POST("/v1/auth/keys", { body: { locationId: location.id, consumerName } });
    return created.apiKey;
  }

  const key = await createKey("Partner", partnerScopes);
  const recorder = createExampleRecorder(product.url, () => key);
  for (const till of [...exampleDays.map(generateExampleTill), documentationEdgeCaseTill]) {
    recorder.keepIds(till);
    const { response } = await recorder.sendRequest({ method: "POST", path: "/v2/tills", body: till });
    if (response.status !== 201) throw new Error(`The push of a till returned ${response.status}.`);
  }
  await eventually("all reports", async () => {
    const { body } = await recorder.sendRequest({ path: "/v2/reports" });
    return body.meta.totalCount === exampleDays.length + 1;
  });
  return { locationId: location.id, key, adminKey: product.adminKey, recorder, createKey };
}
