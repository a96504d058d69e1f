import { randomInt, randomUUID } from "node:crypto";
import type { Scope } from "@pragma/contracts/scopes";
import type { ProductUnderLoad } from "./product-under-load.ts";

/** A location of a product, with a key that may do what the bench does. */
export interface BenchLocation {
  locationId: string;
  key: string;
  /** Headers of a request with the key. */
  headers: Record<string, string>;
}

const benchScopes: Scope[] = [
  "reports:read",
  "orders:read",
  "orders:write",
  "tills:read",
  "tills:write",
  "webhooks:write",
];

export async function createBenchLocation({
  url,
  adminKey,
}: Pick<ProductUnderLoad, "url" | "adminKey">): Promise<BenchLocation> {
  const ask = async <T>(method: string, path: string, body: object): Promise<T> => {
    const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
    const reply = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${await reply.text()}`);
    return (await reply.json()) as T;
  };
  const place = { organizationId: "1", agencyId: "1", legacyId: randomInt(1, 2 ** 31), application: "POPINA" };
  const location = await ask<{ id: string }>("POST", "/v1/locations/import", place);
  const consumerName = `bench ${randomUUID()}`;
  const consumer = await ask<{ id: string }>("POST", "/v1/consumers/", { name: consumerName });
  await ask("PATCH", `/v1/consumers/${consumer.id}`, { scopes: benchScopes });
  const named = { locationId: location.id, consumerName };
  const { apiKey } = await ask<{ apiKey: string }>("POST", "/v1/auth/keys/", named);
  return { locationId: location.id, key: apiKey, headers: { authorization: `Bearer ${apiKey}` } };
}
