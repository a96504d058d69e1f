import { createAdminApiClient } from "@pragma/client/api-client";
import type { Scope } from "@pragma/contracts/scopes";
import { eventually } from "@pragma/runtime/testing/eventually";
import { demoTimeZone, generateExampleTill, homePageDay } from "@pragma/simulator/demo-location";
import type { ProductUnderTest } from "../harness/product-under-test.ts";
import { edgeCaseTill } from "./edge-case-till.ts";
import { createExampleRecorder, type ExampleRecorder } from "./example-recorder.ts";

/** What the examples of the documentation are played on: a location with three days of the demo, and one odd day. */
export interface DocumentationFixture {
  locationId: string;
  /** The key that partners have who were given every scope that is theirs. */
  key: string;
  adminKey: string;
  recorder: ExampleRecorder;
  /** A key of the location for a consumer with these scopes. */
  makeKey(consumerName: string, scopes: Scope[]): Promise<string>;
}

const exampleDays = ["2026-05-28", "2026-05-29", homePageDay];

/** The till that the home page draws the report of. */
export const homePageTill = generateExampleTill(homePageDay);

const partnerScopes: Scope[] = [
  "reports:read",
  "orders:read",
  "orders:write",
  "catalog:read",
  "locations:read",
  "tills:read",
  "tills:write",
  "webhooks:write",
];

export async function createDocumentationFixture(product: ProductUnderTest): Promise<DocumentationFixture> {
  const admin = createAdminApiClient({ baseUrl: product.url, apiKey: product.adminKey });
  const place = { organizationId: "1", agencyId: "1", legacyId: 990_001, application: "POPINA" } as const;
  const { data: location } = await admin.POST("/v1/locations/import", { body: place });
  const { establishmentName, siretCode, companyName, address1, zipCode, city, country, phoneNumber, tvaCode, nafCode } =
    homePageTill;
  await admin.PATCH("/v1/locations/{id}", {
    params: { path: { id: location.id } },
    body: {
      locationSettings: {
        locationName: establishmentName ?? "Demo",
        timezone: demoTimeZone,
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

  async function makeKey(consumerName: string, scopes: Scope[]): Promise<string> {
    const { data: consumer } = await admin.POST("/v1/consumers", { body: { name: consumerName } });
    await admin.PATCH("/v1/consumers/{id}", { params: { path: { id: consumer.id } }, body: { scopes } });
    const { data: made } = await admin.POST("/v1/auth/keys", { body: { locationId: location.id, consumerName } });
    return made.apiKey;
  }

  const key = await makeKey("Partner", partnerScopes);
  const recorder = createExampleRecorder(product.url, () => key);
  for (const till of [...exampleDays.map(generateExampleTill), edgeCaseTill]) {
    recorder.keepIds(till);
    const { response } = await recorder.ask({ method: "POST", path: "/v2/tills/", body: till });
    if (response.status !== 201) throw new Error(`A till was answered ${response.status}.`);
  }
  await eventually("every report to be there", async () => {
    const { body } = await recorder.ask({ path: "/v2/reports/" });
    return body.meta.totalCount === exampleDays.length + 1;
  });
  return { locationId: location.id, key, adminKey: product.adminKey, recorder, makeKey };
}
