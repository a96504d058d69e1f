import { eventually } from "@pragma/runtime/testing/eventually";
import { type DocumentationExampleLocation, documentationHomePageTill } from "./documentation-fixture.ts";
import { withDocumentedTimes } from "./documented-webhook-values.ts";
import { documentationEdgeCaseOrders, documentationEdgeCaseTill } from "./edge-case-till.ts";

/** Records the examples of reads: the health check, a location, reports, orders and pages of lists. */
export async function recordReadRequestExamples({ recorder }: DocumentationExampleLocation): Promise<void> {
  const { recordExchange, sendRequest, updateExample } = recorder;
  await recordExchange("health", { path: "/health/", key: null });
  await recordExchange("own-location", { path: "/v1/locations/own" });
  await recordExchange("current-key", { path: "/v1/auth/keys/current" });
  updateExample("current-key", (example) => withDocumentedTimes(example, { createdAt: "2026-05-04T13:30:05.918Z" }));
  const reports = await recordExchange("reports", { path: "/v2/reports?size=3" });
  const homePageReport = reports.data.find(
    ({ startedAt }: { startedAt: string }) => startedAt === documentationHomePageTill.startedAt,
  );
  const report = await recordExchange("report", { path: `/v2/reports/${homePageReport.id}` });
  await recordExchange("orders-of-report", { path: `/v1/orders?reportId=${report.id}&size=1` });

  await recordExchange("page-by-index", { path: "/v2/reports?index=1&size=2" });
  const first = await recordExchange("page-by-token", { path: "/v2/reports?size=2" });
  await recordExchange("next-page-by-token", {
    path: `/v2/reports?size=2&pageToken=${encodeURIComponent(first.nextPageToken)}`,
  });
  await recordExchange("reports-of-days", { path: "/v2/reports?since=2026-05-29&until=2026-05-30" });
  await recordExchange("day", { path: "/v1/days/2026-05-29" });
  const { response } = await sendRequest({ path: `/v2/reports/${report.id}` });
  await recordExchange("not-modified", {
    path: `/v2/reports/${report.id}`,
    headers: { "if-none-match": response.headers.get("etag") ?? "" },
  });
}

/** The times of the listed API keys, newest key first, and the key that created them. */
const documentedKeyFields = {
  createdAt: ["2026-06-01T09:00:00.000Z", "2026-05-18T08:12:40.271Z", "2026-05-04T13:30:05.918Z"],
  lastUsedAt: ["2026-06-15T10:02:11.482Z", "2026-06-15T06:30:00.817Z", "2026-06-15T10:04:52.106Z"],
  createdBy: "9b3a1f52-9c0b-4f6e-8f0d-2f7f8f0f6a10",
};

/** Records the examples of error responses, and of the creation, listing, use and revocation of an API key. */
export async function recordErrorAndApiKeyExamples({
  recorder,
  createKey,
  adminKey,
}: DocumentationExampleLocation): Promise<void> {
  const { recordExchange, sendRequest, updateExample, keepIds } = recorder;
  await recordExchange("key-missing", { path: "/v2/reports", key: null });
  await recordExchange("key-invalid", { path: "/v2/reports", key: "not-a-key" });
  const reportsKey = await createKey("Accountant", ["reports:read"]);
  await recordExchange("scope-missing", { path: "/v1/catalog", key: reportsKey });
  await recordExchange("faults", { path: "/v2/reports?size=500&since=2026-13-01" });
  await recordExchange("not-found", { path: "/v2/reports/5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33" });

  const consumer = await recordExchange("create-consumer", {
    method: "POST",
    path: "/v1/consumers",
    body: { name: "Acme" },
    key: adminKey,
  });
  await recordExchange("change-scopes", {
    method: "PATCH",
    path: `/v1/consumers/${consumer.id}`,
    body: { scopes: ["reports:read", "orders:read", "webhooks:write"] },
    key: adminKey,
  });
  const { body: ownLocation } = await sendRequest({ path: "/v1/locations/own" });
  const { apiKey } = await recordExchange("create-key", {
    method: "POST",
    path: "/v1/auth/keys",
    body: { locationId: ownLocation.id, consumerName: "Acme" },
    key: adminKey,
  });
  const listOfKeys = { path: `/v1/auth/keys?locationId=${ownLocation.id}`, key: adminKey };
  await sendRequest({ path: "/v2/reports", key: apiKey });
  await eventually("the last use of each key", async () => {
    const { body } = await sendRequest(listOfKeys);
    // The id of the admin key is replaced below, so that it does not change the numbers of later ids.
    keepIds(body.data.map(({ createdBy }: { createdBy: string }) => createdBy));
    return body.data.every(({ lastUsedAt }: { lastUsedAt: string | null }) => lastUsedAt !== null);
  });
  const keys = await recordExchange("list-keys", listOfKeys);
  updateExample("list-keys", (example) => withDocumentedTimes(example, documentedKeyFields));
  await recordExchange("revoke-key", { method: "DELETE", path: `/v1/auth/keys/${keys.data[0].id}`, key: adminKey });
  await eventually("the revocation", async () => {
    const { response } = await sendRequest({ path: "/v2/reports", key: apiKey });
    return response.status === 401;
  });
  await recordExchange("key-revoked", { path: "/v2/reports", key: apiKey });
}

/** Records the response to a request that exceeds the rate limit of its API key. */
export async function recordRateLimitExample({
  locationId,
  recorder,
  adminKey,
}: DocumentationExampleLocation): Promise<void> {
  const { sendRequest, recordExample } = recorder;
  const asAdmin = { key: adminKey } as const;
  const name = "Dashboard";
  const { body: consumer } = await sendRequest({ ...asAdmin, method: "POST", path: "/v1/consumers", body: { name } });
  const rateLimit = { perSecond: 1, burst: 10 };
  await sendRequest({ ...asAdmin, method: "PATCH", path: `/v1/consumers/${consumer.id}`, body: { rateLimit } });
  const newKey = { locationId, consumerName: name };
  const { body } = await sendRequest({ ...asAdmin, method: "POST", path: "/v1/auth/keys", body: newKey });
  const request = { method: "GET", path: "/v2/reports" } as const;
  for (;;) {
    const { response, body: problem } = await sendRequest({ ...request, key: body.apiKey });
    if (response.status === 200) continue;
    const names = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "ratelimit-policy", "retry-after"];
    const headers = Object.fromEntries(names.map((name) => [name, response.headers.get(name) ?? undefined]));
    return recordExample("rate-limited", {
      request: { ...request, headers: { authorization: "Bearer <your key>" } },
      reply: { status: response.status, headers, body: problem },
    });
  }
}

/** Records orders, the report and the till of the example day with edge cases. */
export async function recordEdgeCaseTillExamples({ recorder }: DocumentationExampleLocation): Promise<void> {
  const { recordExchange, sendRequest } = recorder;
  for (const name of ["split", "canceledRow", "loss", "refund", "weight", "menu", "groupDiscount"] as const) {
    const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    await recordExchange(`edge-${dashed}`, { path: `/v1/orders/${documentationEdgeCaseOrders[name].id}` });
  }
  const { groupDiscount, menu } = documentationEdgeCaseOrders;
  await recordExchange("edge-group-discount-v2", { path: `/v2/orders/${groupDiscount.id}` });
  await recordExchange("edge-menu-v2", { path: `/v2/orders/${menu.id}` });
  const { body: reports } = await sendRequest({ path: "/v2/reports?since=2026-05-31&until=2026-05-31" });
  await recordExchange("edge-report", { path: `/v2/reports/${reports.data[0].id}` });
  await recordExchange("edge-till", { path: `/v1/tills/${documentationEdgeCaseTill.id}` });
}

/** Records the examples of idempotent requests, and of tills that are pushed again, replaced and reprocessed. */
export async function recordRepeatedRequestExamples({ recorder }: DocumentationExampleLocation): Promise<void> {
  const { recordExchange, sendRequest, recordExample } = recorder;
  const { body: recipient } = await sendRequest({
    method: "POST",
    path: "/v1/recipients",
    body: { name: "Accounting software" },
  });
  const newWebhook = { method: "POST", path: "/v1/webhooks" } as const;
  const headers = { "idempotency-key": "9d0f6a3e-5a1c-4b53-8f0e-2b7c41d6e8aa" };
  const body = {
    recipientId: recipient.id,
    endpointUrl: "http://127.0.0.1:8080/webhooks/pragma",
    events: ["report.finalized"],
  };
  const webhook = await recordExchange("idempotent-first", { ...newWebhook, headers, body });
  await recordExchange("idempotent-again", { ...newWebhook, headers, body });
  const otherEvents = ["report.finalized", "order.paid"];
  await recordExchange("idempotent-reused", { ...newWebhook, headers, body: { ...body, events: otherEvents } });
  // Deleted, so that no later event is sent to this endpoint, which does not exist.
  await sendRequest({ method: "DELETE", path: `/v1/webhooks/${webhook.id}` });
  await sendRequest({ method: "DELETE", path: `/v1/recipients/${recipient.id}` });

  const correctedTill = { ...documentationEdgeCaseTill, note: "Corrected after the shift" };
  const { body: repeated, response } = await sendRequest({
    method: "POST",
    path: "/v2/tills",
    body: documentationEdgeCaseTill,
  });
  recordExample("till-pushed-again", { reply: { status: response.status, headers: {}, body: repeated } });
  const { body: conflict } = await sendRequest({
    method: "POST",
    path: "/v2/tills",
    body: correctedTill,
  });
  recordExample("till-conflict", { reply: { status: conflict.status, headers: {}, body: conflict } });
  await waitForUpdatedOrders(recorder, () =>
    recordExchange("till-replaced", {
      method: "PUT",
      path: `/v1/tills/${documentationEdgeCaseTill.id}`,
      body: correctedTill,
    }),
  );
  await waitForUpdatedOrders(recorder, () =>
    recordExchange("till-reprocessed", {
      method: "POST",
      path: `/v1/tills/${documentationEdgeCaseTill.id}/reprocess`,
    }),
  );
}

/**
 * Waits until the orders of the till are updated after a request. Otherwise the times of the update could equal times
 * of the next examples, which have other documented times.
 */
async function waitForUpdatedOrders(
  { sendRequest }: DocumentationExampleLocation["recorder"],
  sendUpdate: () => Promise<unknown>,
): Promise<void> {
  const order = { path: `/v1/orders/${documentationEdgeCaseOrders.split.id}` };
  const { body: before } = await sendRequest(order);
  await sendUpdate();
  await eventually("the update of the orders", async () => {
    const { body } = await sendRequest(order);
    return body.updatedAt !== before.updatedAt;
  });
}
