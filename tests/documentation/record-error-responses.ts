import type { DocumentationFixture } from "./documentation-fixture.ts";

/** Records errors, and the life of an API key. */
export async function recordErrorResponses({ recorder, createKey, adminKey }: DocumentationFixture): Promise<void> {
  const { recordExchange, sendRequest } = recorder;
  await recordExchange("key-missing", { path: "/v2/reports/", key: null });
  await recordExchange("key-invalid", { path: "/v2/reports/", key: "not-a-key" });
  const reportsKey = await createKey("Accountant", ["reports:read"]);
  await recordExchange("scope-missing", { path: "/v1/catalog/", key: reportsKey });
  await recordExchange("faults", { path: "/v2/reports/?size=500&since=2026-13-01" });
  await recordExchange("not-found", { path: "/v2/reports/5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33" });

  const consumer = await recordExchange("create-consumer", {
    method: "POST",
    path: "/v1/consumers/",
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
    path: "/v1/auth/keys/",
    body: { locationId: ownLocation.id, consumerName: "Acme" },
    key: adminKey,
  });
  const { body: keys } = await sendRequest({ path: "/v1/auth/keys/?size=1", key: adminKey });
  await recordExchange("revoke-key", { method: "DELETE", path: `/v1/auth/keys/${keys.data[0].id}`, key: adminKey });
  await recordExchange("key-revoked", { path: "/v2/reports/", key: apiKey });
}
