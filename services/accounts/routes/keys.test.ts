import { randomUUID } from "node:crypto";
import { ApiKey, Consumer, CreatedApiKey } from "@pragma/contracts/consumer";
import { pageOf } from "@pragma/contracts/pagination";
import { KeyFacts } from "@pragma/contracts/principal";
import { hashKey, hasKeyShape } from "@pragma/runtime/api-key";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importLocation, legacy } from "../testing/locations.ts";
import { insider, keyOf, operator, startAccounts, type TestAccounts } from "../testing/start-accounts.ts";

const Page = pageOf(ApiKey);

const place = legacy();

let accounts: TestAccounts;
let here: string;
let elsewhere: string;
beforeAll(async () => {
  accounts = await startAccounts();
  here = await importLocation(accounts, place);
  elsewhere = await importLocation(accounts, legacy());
  const request = { method: "POST", path: "/v1/consumers/", body: { name: "Acme" } };
  await accounts.send(request, { status: 201, schema: Consumer });
});
afterAll(() => accounts.remove());

async function createKey(locationId = here): Promise<string> {
  const request = { method: "POST", path: "/v1/auth/keys/", body: { locationId, consumerName: "Acme" } };
  return (await accounts.send(request, { status: 201, schema: CreatedApiKey })).apiKey;
}

const factsOf = (key: string) => accounts.get(`/internal/keys/${hashKey(key)}`, KeyFacts, insider);

describe("POST /v1/auth/keys/", () => {
  it("makes a key that scanners know, and that stands for its consumer at its location", async () => {
    const key = await createKey();
    expect(hasKeyShape(key)).toBe(true);
    const facts = await factsOf(key);
    expect(facts).toEqual({
      keyId: facts.keyId,
      consumer: "Acme",
      scopes: ["reports:read", "orders:read", "catalog:read", "locations:read"],
      location: { id: here, application: "POPINA", legacyId: place.legacyId, timeZone: "Europe/Paris" },
      rateLimit: null,
      revokedAt: null,
    });
  });

  it("answers it so that no cache keeps it", async () => {
    const body = { locationId: here, consumerName: "Acme" };
    const reply = await accounts.ask("POST", "/v1/auth/keys/", { principal: operator, body });
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
    const { keyId } = await factsOf(key);
    expect(await accounts.events("key.changed", keyId)).toEqual([
      { locationId: here, keyId, keyHash: hashKey(key), revoked: false },
    ]);
  });

  it("answers 404 when there is no such consumer, or no such location", async () => {
    const path = "/v1/auth/keys/";
    const unknown = { locationId: here, consumerName: "Nobody" };
    expect((await accounts.refusal({ method: "POST", path, body: unknown })).code).toBe("consumer_not_found");
    const nowhere = { locationId: randomUUID(), consumerName: "Acme" };
    expect((await accounts.refusal({ method: "POST", path, body: nowhere })).code).toBe("location_not_found");
  });

  it("reports every fault at once", async () => {
    const body = { locationId: "here", consumerName: "A" };
    const problem = await accounts.refusal({ method: "POST", path: "/v1/auth/keys/", body });
    expect(problem.errors?.map(({ path }) => path).sort()).toEqual(["consumerName", "locationId"]);
  });
});

describe("GET /v1/auth/keys/", () => {
  it("lists keys, newest first, by how they begin and never whole", async () => {
    const keys = [await createKey(), await createKey()];
    const reply = await accounts.ask("GET", "/v1/auth/keys/?size=2", { principal: operator });
    const text = await reply.text();
    const page = Page.parse(JSON.parse(text));
    expect(page.data.map(({ prefix }) => prefix)).toEqual(keys.reverse().map((key) => key.slice(0, 14)));
    expect(page.data[0]).toEqual({
      id: page.data[0]?.id,
      prefix: keys[0]?.slice(0, 14),
      consumerName: "Acme",
      locationId: here,
      createdAt: page.data[0]?.createdAt,
      lastUsedAt: null,
      revokedAt: null,
    });
    for (const key of keys) {
      expect(text).not.toContain(key);
      expect(text).not.toContain(hashKey(key));
    }
  });

  it("goes on by token", async () => {
    await createKey();
    const first = await accounts.get("/v1/auth/keys/?size=1", Page);
    const second = await accounts.get(`/v1/auth/keys/?size=1&pageToken=${first.nextPageToken}`, Page);
    expect(second.data[0]?.id).not.toBe(first.data[0]?.id);
    expect(second.meta.currentPageIndex).toBe(1);
  });

  it("filters by location", async () => {
    await createKey(elsewhere);
    const { data } = await accounts.get(`/v1/auth/keys/?locationId=${elsewhere}`, Page);
    expect(data.map(({ locationId }) => locationId)).toEqual(data.map(() => elsewhere));
    expect(data.length).toBeGreaterThan(0);
  });

  it("shows a key without locations:any those of its own location", async () => {
    await createKey(elsewhere);
    const principal = keyOf(here, "keys:write");
    const { data } = await accounts.get("/v1/auth/keys/?size=100", Page, principal);
    expect(new Set(data.map(({ locationId }) => locationId))).toEqual(new Set([here]));
    const path = `/v1/auth/keys/?locationId=${elsewhere}`;
    expect((await accounts.refusal({ method: "GET", path, principal })).code).toBe("location_forbidden");
  });

  it("answers 403 without the scope, and 400 to wrong pages and tokens", async () => {
    const path = "/v1/auth/keys/";
    const principal = keyOf(here, "consumers:write");
    expect((await accounts.refusal({ method: "GET", path, principal })).code).toBe("scope_missing");
    const problem = await accounts.refusal({ method: "GET", path: `${path}?size=101&locationId=x` });
    expect(problem.errors?.map((fault) => fault.path).sort()).toEqual(["locationId", "size"]);
    expect((await accounts.refusal({ method: "GET", path: `${path}?pageToken=x` })).code).toBe("invalid_page_token");
  });
});

describe("DELETE /v1/auth/keys/{id}", () => {
  const revoke = (id: string) => accounts.ask("DELETE", `/v1/auth/keys/${id}`, { principal: operator });

  it("revokes the key for good, keeps it in the list, and tells gateways once", async () => {
    const key = await createKey();
    const { keyId } = await factsOf(key);
    expect((await revoke(keyId)).status).toBe(204);
    const { revokedAt } = await factsOf(key);
    expect(revokedAt).not.toBeNull();
    const listed = (await accounts.get("/v1/auth/keys/", Page)).data.find(({ id }) => id === keyId);
    expect(listed?.revokedAt).toBe(revokedAt);

    expect((await revoke(keyId)).status).toBe(204);
    expect((await factsOf(key)).revokedAt).toBe(revokedAt);
    expect(await accounts.events("key.changed", keyId)).toEqual([
      { locationId: here, keyId, keyHash: hashKey(key), revoked: false },
      { locationId: here, keyId, keyHash: hashKey(key), revoked: true },
    ]);
  });

  it("tells gateways once when many revoke it at once", async () => {
    const { keyId } = await factsOf(await createKey());
    const replies = await Promise.all(Array.from({ length: 6 }, () => revoke(keyId)));
    expect(replies.map(({ status }) => status)).toEqual(Array(6).fill(204));
    expect(await accounts.events("key.changed", keyId)).toHaveLength(2);
  });

  it("answers 404 when there is none, and 400 when the id is no uuid", async () => {
    const path = `/v1/auth/keys/${randomUUID()}`;
    expect((await accounts.refusal({ method: "DELETE", path })).code).toBe("key_not_found");
    expect((await accounts.refusal({ method: "DELETE", path: "/v1/auth/keys/1" })).code).toBe("invalid_request");
  });
});
