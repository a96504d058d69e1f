import { randomUUID } from "node:crypto";
import { ApiConsumer, ApiKey, CreatedApiKey } from "@pragma/contracts/api-consumer";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { ResolvedApiKey } from "@pragma/contracts/principal";
import { hashApiKey, isWellFormedApiKey } from "@pragma/runtime/security/api-key";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildTestLegacyLocationImportBody, importTestLocation } from "../testing/location-fixtures.ts";
import {
  type AccountsServiceUnderTest,
  buildTestLocationPrincipal,
  gatewayConsumerTestPrincipal,
  operatorTestPrincipal,
  startAccountsServiceUnderTest,
} from "../testing/start-test-accounts.ts";

const ApiKeyPage = paginatedSchema(ApiKey);

const ownLocationBody = buildTestLegacyLocationImportBody();

let accounts: AccountsServiceUnderTest;
let ownLocationId: string;
let otherLocationId: string;
beforeAll(async () => {
  accounts = await startAccountsServiceUnderTest();
  ownLocationId = await importTestLocation(accounts, ownLocationBody);
  otherLocationId = await importTestLocation(accounts, buildTestLegacyLocationImportBody());
  const request = { method: "POST", path: "/v1/consumers/", body: { name: "Acme" } };
  await accounts.sendJson(request, { status: 201, schema: ApiConsumer });
});
afterAll(() => accounts.remove());

async function createKey(locationId = ownLocationId): Promise<string> {
  const request = { method: "POST", path: "/v1/auth/keys/", body: { locationId, consumerName: "Acme" } };
  return (await accounts.sendJson(request, { status: 201, schema: CreatedApiKey })).apiKey;
}

const resolveKey = (key: string) =>
  accounts.getJson(`/internal/keys/${hashApiKey(key)}`, ResolvedApiKey, gatewayConsumerTestPrincipal);

describe("POST /v1/auth/keys/", () => {
  it("creates a well-formed key for its consumer at its location", async () => {
    const key = await createKey();
    expect(isWellFormedApiKey(key)).toBe(true);
    const resolvedKey = await resolveKey(key);
    expect(resolvedKey).toEqual({
      keyId: resolvedKey.keyId,
      consumer: "Acme",
      scopes: ["reports:read", "orders:read", "catalog:read", "locations:read", "usage:read"],
      location: {
        id: ownLocationId,
        application: "POPINA",
        legacyId: ownLocationBody.legacyId,
        timeZone: "Europe/Paris",
      },
      rateLimit: null,
      revokedAt: null,
    });
  });

  it("forbids caching of the response", async () => {
    const body = { locationId: ownLocationId, consumerName: "Acme" };
    const response = await accounts.request("POST", "/v1/auth/keys/", { principal: operatorTestPrincipal, body });
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  it("does not store the key itself", async () => {
    const key = await createKey();
    const rows = await accounts.db.sql<{ row: string }[]>`
      select row_to_json(k)::text as row from api_keys k union all select body from recorded_outbox`;
    expect(rows.filter(({ row }) => row.includes(key) || row.includes(key.slice(15)))).toEqual([]);
  });

  it("publishes key.changed, because gateways may have cached that the key is unknown", async () => {
    const key = await createKey();
    const { keyId } = await resolveKey(key);
    expect(await accounts.findEvents("key.changed", keyId)).toEqual([
      { locationId: ownLocationId, keyId, keyHash: hashApiKey(key), revoked: false },
    ]);
  });

  it("returns 404 for an unknown consumer, and for an unknown location", async () => {
    const path = "/v1/auth/keys/";
    const unknownConsumer = { locationId: ownLocationId, consumerName: "Unknown" };
    expect((await accounts.requestProblem({ method: "POST", path, body: unknownConsumer })).code).toBe(
      "consumer_not_found",
    );
    const unknownLocation = { locationId: randomUUID(), consumerName: "Acme" };
    expect((await accounts.requestProblem({ method: "POST", path, body: unknownLocation })).code).toBe(
      "location_not_found",
    );
  });

  it("reports all issues at once", async () => {
    const body = { locationId: "here", consumerName: "A" };
    const problem = await accounts.requestProblem({ method: "POST", path: "/v1/auth/keys/", body });
    expect(problem.errors?.map(({ path }) => path).sort()).toEqual(["consumerName", "locationId"]);
  });
});

describe("GET /v1/auth/keys/", () => {
  it("lists keys, newest first, with only their first characters", async () => {
    const keys = [await createKey(), await createKey()];
    const response = await accounts.request("GET", "/v1/auth/keys/?size=2", { principal: operatorTestPrincipal });
    const text = await response.text();
    const page = ApiKeyPage.parse(JSON.parse(text));
    expect(page.data.map(({ prefix }) => prefix)).toEqual(keys.reverse().map((key) => key.slice(0, 14)));
    expect(page.data[0]).toEqual({
      id: page.data[0]?.id,
      prefix: keys[0]?.slice(0, 14),
      consumerName: "Acme",
      locationId: ownLocationId,
      createdAt: page.data[0]?.createdAt,
      lastUsedAt: null,
      revokedAt: null,
    });
    for (const key of keys) {
      expect(text).not.toContain(key);
      expect(text).not.toContain(hashApiKey(key));
    }
  });

  it("can be paged by token", async () => {
    await createKey();
    const first = await accounts.getJson("/v1/auth/keys/?size=1", ApiKeyPage);
    const second = await accounts.getJson(`/v1/auth/keys/?size=1&pageToken=${first.nextPageToken}`, ApiKeyPage);
    expect(second.data[0]?.id).not.toBe(first.data[0]?.id);
    expect(second.meta.currentPageIndex).toBe(1);
  });

  it("filters by location", async () => {
    await createKey(otherLocationId);
    const { data } = await accounts.getJson(`/v1/auth/keys/?locationId=${otherLocationId}`, ApiKeyPage);
    expect(data.map(({ locationId }) => locationId)).toEqual(data.map(() => otherLocationId));
    expect(data.length).toBeGreaterThan(0);
  });

  it("shows a key without locations:any only the keys of its own location", async () => {
    await createKey(otherLocationId);
    const principal = buildTestLocationPrincipal(ownLocationId, "keys:write");
    const { data } = await accounts.getJson("/v1/auth/keys/?size=100", ApiKeyPage, principal);
    expect(new Set(data.map(({ locationId }) => locationId))).toEqual(new Set([ownLocationId]));
    const path = `/v1/auth/keys/?locationId=${otherLocationId}`;
    expect((await accounts.requestProblem({ method: "GET", path, principal })).code).toBe("location_forbidden");
  });

  it("returns 403 without the scope, and 400 for invalid pages and tokens", async () => {
    const path = "/v1/auth/keys/";
    const principal = buildTestLocationPrincipal(ownLocationId, "consumers:write");
    expect((await accounts.requestProblem({ method: "GET", path, principal })).code).toBe("scope_missing");
    const problem = await accounts.requestProblem({ method: "GET", path: `${path}?size=101&locationId=x` });
    expect(problem.errors?.map(({ path: issuePath }) => issuePath).sort()).toEqual(["locationId", "size"]);
    expect((await accounts.requestProblem({ method: "GET", path: `${path}?pageToken=x` })).code).toBe(
      "invalid_page_token",
    );
  });
});

describe("DELETE /v1/auth/keys/{id}", () => {
  const revoke = (id: string) =>
    accounts.request("DELETE", `/v1/auth/keys/${id}`, { principal: operatorTestPrincipal });

  it("revokes the key permanently, keeps it in the list, and publishes key.changed once", async () => {
    const key = await createKey();
    const { keyId } = await resolveKey(key);
    expect((await revoke(keyId)).status).toBe(204);
    const { revokedAt } = await resolveKey(key);
    expect(revokedAt).not.toBeNull();
    const listed = (await accounts.getJson("/v1/auth/keys/", ApiKeyPage)).data.find(({ id }) => id === keyId);
    expect(listed?.revokedAt).toBe(revokedAt);

    expect((await revoke(keyId)).status).toBe(204);
    expect((await resolveKey(key)).revokedAt).toBe(revokedAt);
    expect(await accounts.findEvents("key.changed", keyId)).toEqual([
      { locationId: ownLocationId, keyId, keyHash: hashApiKey(key), revoked: false },
      { locationId: ownLocationId, keyId, keyHash: hashApiKey(key), revoked: true },
    ]);
  });

  it("publishes key.changed once for concurrent revocations", async () => {
    const { keyId } = await resolveKey(await createKey());
    const responses = await Promise.all(Array.from({ length: 6 }, () => revoke(keyId)));
    expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(204));
    expect(await accounts.findEvents("key.changed", keyId)).toHaveLength(2);
  });

  it("returns 404 for an unknown key, and 400 for an id that is not a UUID", async () => {
    const path = `/v1/auth/keys/${randomUUID()}`;
    expect((await accounts.requestProblem({ method: "DELETE", path })).code).toBe("key_not_found");
    expect((await accounts.requestProblem({ method: "DELETE", path: "/v1/auth/keys/1" })).code).toBe("invalid_request");
  });
});
