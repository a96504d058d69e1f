import { randomInt, randomUUID } from "node:crypto";
import type { ApiScope } from "@pragma/contracts/scopes";
import type { BenchPragmaDeployment } from "./bench-pragma-deployment.ts";

/** A location of a product, with an API key that has the scopes of the benchmarks. */
export interface BenchLocation {
  locationId: string;
  key: string;
  /** The headers that authenticate a request with the API key of the location. */
  headers: Record<string, string>;
}

const benchScopes: ApiScope[] = [
  "reports:read",
  "orders:read",
  "orders:write",
  "tills:read",
  "tills:write",
  "webhooks:write",
  "catalog:read",
  "locations:read",
  "usage:read",
  "accounting:write",
];

export async function createBenchLocation({
  url,
  adminKey,
}: Pick<BenchPragmaDeployment, "url" | "adminKey">): Promise<BenchLocation> {
  const requestAsAdmin = async <T>(method: string, path: string, body: object): Promise<T> => {
    const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const newLocation = { organizationId: "1", agencyId: "1", legacyId: randomInt(1, 2 ** 31), application: "POPINA" };
  const location = await requestAsAdmin<{ id: string }>("POST", "/v1/locations/import", newLocation);
  const consumerName = `bench ${randomUUID()}`;
  const consumer = await requestAsAdmin<{ id: string }>("POST", "/v1/consumers/", { name: consumerName });
  await requestAsAdmin("PATCH", `/v1/consumers/${consumer.id}`, { scopes: benchScopes });
  const newKey = { locationId: location.id, consumerName };
  const { apiKey } = await requestAsAdmin<{ apiKey: string }>("POST", "/v1/auth/keys/", newKey);
  return { locationId: location.id, key: apiKey, headers: { authorization: `Bearer ${apiKey}` } };
}
