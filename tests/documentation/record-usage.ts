import { eventually } from "@pragma/runtime/testing/eventually";
import type { DocumentationExampleLocation } from "./documentation-fixture.ts";
import { withDocumentedTimes } from "./documented-webhook-values.ts";

/** Records the examples of the usage of an API key that has sent three requests, of which two have failed. */
export async function recordUsageExamples({
  recorder,
  createKey,
  adminKey,
  locationId,
}: DocumentationExampleLocation): Promise<void> {
  const { recordExchange, sendRequest, updateExample } = recorder;
  const key = await createKey("Bookkeeping", ["reports:read", "usage:read"]);
  const { body: keys } = await sendRequest({ path: `/v1/auth/keys?locationId=${locationId}&size=1`, key: adminKey });
  const keyId = keys.data[0].id;
  await sendRequest({ path: "/v2/reports", key });
  await sendRequest({
    path: "/v2/reports/5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33",
    key,
    headers: { "x-request-id": "nightly-import-17" },
  });
  const [usagePath, failuresPath] = [`/v1/usage?keyId=${keyId}`, `/v1/usage/failures?keyId=${keyId}`];
  // Sent with the operator's key, because the requests of the key itself would be counted, too.
  const countAsOperator = async (path: string) => (await sendRequest({ path, key: adminKey })).body.meta.totalCount;
  await eventually("the first failed request", async () => (await countAsOperator(failuresPath)) === 1);
  await sendRequest({ path: "/v1/usage?granularity=week", key, headers: { "x-request-id": "dashboard-4" } });
  await eventually(
    "the usage of the key",
    async () => (await countAsOperator(usagePath)) === 3 && (await countAsOperator(failuresPath)) === 2,
  );
  await recordExchange("usage", { path: usagePath, key: adminKey });
  await recordExchange("usage-by-route", { path: `/v1/usage?groupBy=route&keyId=${keyId}`, key: adminKey });
  await recordExchange("usage-failures", { path: failuresPath, key: adminKey });
  const times = {
    periodStart: "2026-06-15T10:00:00.000Z",
    failedAt: ["2026-06-15T10:02:14.906Z", "2026-06-15T10:02:11.482Z"],
  };
  for (const name of ["usage", "usage-failures"]) {
    updateExample(name, (example) => withDocumentedTimes(example, times));
  }
}
