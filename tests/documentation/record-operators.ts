import { eventually } from "@pragma/runtime/testing/eventually";
import type { DocumentationExampleLocation } from "./documentation-fixture.ts";
import { withDocumentedTimes } from "./documented-webhook-values.ts";

/** The partners of the new location, and the requests that each sends. The last request of the first one fails. */
const requestsOfPartners = {
  "Ledger Sync": [
    "/v2/reports",
    "/v2/reports?size=100",
    "/v1/orders",
    "/v2/reports/5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33",
  ],
  "Stock Counter": ["/v1/catalog", "/v1/orders-live"],
};

/** Records the examples of the guide for operators: a new location, and the usage and the audit events of its keys. */
export async function recordOperatorExamples({ recorder, adminKey }: DocumentationExampleLocation): Promise<void> {
  const { recordExchange, sendRequest } = recorder;
  const asOperator = { key: adminKey } as const;
  const { id: locationId } = await recordExchange("create-location", {
    ...asOperator,
    method: "POST",
    path: "/v1/locations",
    body: {
      application: "popina",
      organizationId: "12",
      agencyId: "3",
      currencyCode: "EUR",
      locationSettings: { locationName: "Le Bistrot", timezone: "Europe/Paris", zipCode: "75020", city: "Paris" },
    },
  });
  for (const [consumerName, paths] of Object.entries(requestsOfPartners)) {
    await sendRequest({ ...asOperator, method: "POST", path: "/v1/consumers", body: { name: consumerName } });
    const newKey = { method: "POST", path: "/v1/auth/keys", body: { locationId, consumerName } } as const;
    const { body } = await sendRequest({ ...asOperator, ...newKey });
    for (const path of paths) await sendRequest({ path, key: body.apiKey });
  }
  const usagePath = `/v1/usage?groupBy=consumer&locationId=${locationId}`;
  const requestCount = Object.values(requestsOfPartners).flat().length;
  await eventually("the usage of all partners", async () => {
    const { body } = await sendRequest({ ...asOperator, path: usagePath });
    return body.totals.requestCount === requestCount;
  });
  await recordExchange("usage-by-consumer", { ...asOperator, path: usagePath });
  await recordExchange("audit-events", { ...asOperator, path: `/v1/audit?locationId=${locationId}` });
  // The id of the admin key differs in each run, and is kept, so that it does not change the numbers of other ids.
  const keyId = "9b3a1f52-9c0b-4f6e-8f0d-2f7f8f0f6a10";
  recorder.updateExample("audit-events", (example) => withDocumentedTimes(example, { keyId }));
}
