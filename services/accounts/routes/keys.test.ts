import { randomUUID } from "node:crypto";
import { ApiConsumer, ApiKey, CreatedApiKey } from "@pragma/contracts/api-consumer";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { ResolvedKey } from "@pragma/contracts/principal";
import { hashApiKey, isWellFormedApiKey } from "@pragma/runtime/security/api-key";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importTestLocation, legacyLocationBody } from "../testing/location-fixtures.ts";
import {
  gatewayTestPrincipal,
  locationPrincipal,
  operatorPrincipal,
  startTestAccounts,
  type TestAccountsService,
} from "../testing/start-test-accounts.ts";

const ApiKeyPage = paginatedSchema(ApiKey);

const ownLocationBody = legacyLocationBody();

let accounts: TestAccountsService;
let ownLocationId: string;
let otherLocationId: string;
beforeAll(async () => {
  accounts = await startTestAccounts();
  ownLocationId = await importTestLocation(accounts, ownLocationBody);
  otherLocationId = await importTestLocation(accounts, legacyLocationBody());
  const request = { method: "POST", path: "/v1/consumers/", body: { name: "Acme" } };
  await accounts.sendJson(request, { status: 201, schema: ApiConsumer });
});
afterAll(() => accounts.remove());

async function createKey(locationId = ownLocationId): Promise<string> {
  const request = { method: "POST", path: "/v1/auth/keys/", body: { locationId, consumerName: "Acme" } };
  return (await accounts.sendJson(request, { status: 201, schema: CreatedApiKey })).apiKey;
}

const resolveKey = (key: string) =>
  accounts.getJson(`/internal/keys/${hashApiKey(key)}`, ResolvedKey, gatewayTestPrincipal);

describe("POST /v1/auth/keys/", () => {
  it("makes a key that scanners know, and that stands for its consumer at its location", async () => {
    const key = await createKey();
    expect(isWellFormedApiKey(key)).toBe(true);
    const facts = await resolveKey(key);
    expect(facts).toEqual({
      keyId: facts.keyId,
      consumer: "Acme",
      scopes: ["reports:read", "orders:read", "catalog:read", "locations:read"],
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

  it("answers it so that no cache keeps it", async () => {
    const body = { locationId: ownLocationId, consumerName: "Acme" };
    const reply = await accounts.request("POST", "/v1/auth/keys/", { principal: operatorPrincipal, body });
    expect(reply.headers.get("cache-control")).toBe("no-store");
  });

  it("keeps the key itself nowhere", async () => {
    const key = await createKey();
    const rows = await accounts.db.sql<{ row: string }[]>`
      select row_to_json(k)::text as row from api_keys k union all select body from written`;
    expect(rows.filter(({ row }) => row.includes(key) || row.includes(key.slice(15)))).toEqual([]);
  });

  it("tells gateways of it, who may have found that there is no such key", async () => {
    const key = await createKey();
    const { keyId } = await resolveKey(key);
    expect(await accounts.findEvents("key.changed", keyId)).toEqual([
      { locationId: ownLocationId, keyId, keyHash: hashApiKey(key), revoked: false },
    ]);
  });

  it("answers 404 when there is no such consumer, or no such location", async () => {
    const path = "/v1/auth/keys/";
    const unknown = { locationId: ownLocationId, consumerName: "Nobody" };
    expect((await accounts.requestProblem({ method: "POST", path, body: unknown })).code).toBe("consumer_not_found");
    const nowhere = { locationId: randomUUID(), consumerName: "Acme" };
    expect((await accounts.requestProblem({ method: "POST", path, body: nowhere })).code).toBe("location_not_found");
  });

  it("reports every fault at once", async () => {
    const body = { locationId: "here", consumerName: "A" };
    const problem = await accounts.requestProblem({ method: "POST", path: "/v1/auth/keys/", body });
    expect(problem.errors?.map(({ path }) => path).sort()).toEqual(["consumerName", "locationId"]);
  });
});

describe("GET /v1/auth/keys/", () => {
  it("lists keys, newest first, by how they begin and never whole", async () => {
    const keys = [await createKey(), await createKey()];
    const reply = await accounts.request("GET", "/v1/auth/keys/?size=2", { principal: operatorPrincipal });
    const text = await reply.text();
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

  it("goes on by token", async () => {
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

  it("shows a key without locations:any those of its own location", async () => {
    await createKey(otherLocationId);
    const principal = locationPrincipal(ownLocationId, "keys:write");
    const { data } = await accounts.getJson("/v1/auth/keys/?size=100", ApiKeyPage, principal);
    expect(new Set(data.map(({ locationId }) => locationId))).toEqual(new Set([ownLocationId]));
    const path = `/v1/auth/keys/?locationId=${otherLocationId}`;
    expect((await accounts.requestProblem({ method: "GET", path, principal })).code).toBe("location_forbidden");
  });

  it("answers 403 without the scope, and 400 to wrong pages and tokens", async () => {
    const path = "/v1/auth/keys/";
    const principal = locationPrincipal(ownLocationId, "consumers:write");
    expect((await accounts.requestProblem({ method: "GET", path, principal })).code).toBe("scope_missing");
    const problem = await accounts.requestProblem({ method: "GET", path: `${path}?size=101&locationId=x` });
    expect(problem.errors?.map((fault) => fault.path).sort()).toEqual(["locationId", "size"]);
    expect((await accounts.requestProblem({ method: "GET", path: `${path}?pageToken=x` })).code).toBe(
      "invalid_page_token",
    );
  });
});

describe("DELETE /v1/auth/keys/{id}", () => {
  const revoke = (id: string) => accounts.request("DELETE", `/v1/auth/keys/${id}`, { principal: operatorPrincipal });

  it("revokes the key for good, keeps it in the list, and tells gateways once", async () => {
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

  it("tells gateways once when many revoke it at once", async () => {
    const { keyId } = await resolveKey(await createKey());
    const replies = await Promise.all(Array.from({ length: 6 }, () => revoke(keyId)));
    expect(replies.map(({ status }) => status)).toEqual(Array(6).fill(204));
    expect(await accounts.findEvents("key.changed", keyId)).toHaveLength(2);
  });

  it("answers 404 when there is none, and 400 when the id is no uuid", async () => {
    const path = `/v1/auth/keys/${randomUUID()}`;
    expect((await accounts.requestProblem({ method: "DELETE", path })).code).toBe("key_not_found");
    expect((await accounts.requestProblem({ method: "DELETE", path: "/v1/auth/keys/1" })).code).toBe("invalid_request");
  });
});
