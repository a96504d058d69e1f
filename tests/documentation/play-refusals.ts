import type { Stage } from "./stage.ts";

/** What is answered to requests that are not as they should be. */
export async function playRefusals({ recorder, makeKey, adminKey }: Stage): Promise<void> {
  const { exchange, ask } = recorder;
  await exchange("key-missing", { path: "/v2/reports/", key: null });
  await exchange("key-invalid", { path: "/v2/reports/", key: "not-a-key" });
  const reader = await makeKey("Accountant", ["reports:read"]);
  await exchange("scope-missing", { path: "/v1/catalog/", key: reader });
  await exchange("faults", { path: "/v2/reports/?size=500&since=2026-13-01" });
  await exchange("not-found", { path: "/v2/reports/5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33" });

  const consumer = await exchange("create-consumer", {
    method: "POST",
    path: "/v1/consumers/",
    body: { name: "Acme" },
    key: adminKey,
  });
  await exchange("change-scopes", {
    method: "PATCH",
    path: `/v1/consumers/${consumer.id}`,
    body: { scopes: ["reports:read", "orders:read", "webhooks:write"] },
    key: adminKey,
  });
  const { body: own } = await ask({ path: "/v1/locations/own" });
  const { apiKey } = await exchange("create-key", {
    method: "POST",
    path: "/v1/auth/keys/",
    body: { locationId: own.id, consumerName: "Acme" },
    key: adminKey,
  });
  const { body: keys } = await ask({ path: "/v1/auth/keys/?size=1", key: adminKey });
  await exchange("revoke-key", { method: "DELETE", path: `/v1/auth/keys/${keys.data[0].id}`, key: adminKey });
  await exchange("key-revoked", { path: "/v2/reports/", key: apiKey });
}
