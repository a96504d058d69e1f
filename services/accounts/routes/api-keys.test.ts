import { randomUUID } from "node:crypto";
import { ApiConsumer, ApiKey, CreatedApiKey, CurrentApiKey, RotatedApiKey } from "@pragma/contracts/api-consumer";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { type Principal, ResolvedApiKey } from "@pragma/contracts/principal";
import { defaultApiConsumerScopes } from "@pragma/contracts/scopes";
import { hashApiKey, isWellFormedApiKey } from "@pragma/runtime/security/api-key";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { buildLocationImport, createTestLocationAndGetId, importTestLocation } from "../testing/location-fixtures.ts";
import {
  type AccountsServiceUnderTest,
  buildTestLocationPrincipal,
  gatewayConsumerTestPrincipal,
  operatorTestPrincipal,
  startAccountsServiceUnderTest,
} from "../testing/start-test-accounts.ts";

const ApiKeyPage = paginatedSchema(ApiKey);

const ownLocationBody = buildLocationImport();

let accounts: AccountsServiceUnderTest;
let ownLocationId: string;
let otherLocationId: string;
beforeAll(async () => {
  accounts = await startAccountsServiceUnderTest();
  ownLocationId = await importTestLocation(accounts, ownLocationBody);
  otherLocationId = await importTestLocation(accounts, buildLocationImport());
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
      expiresAt: null,
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
      scopes: [...defaultApiConsumerScopes],
      locationId: ownLocationId,
      locationName: null,
      createdAt: page.data[0]?.createdAt,
      lastUsedAt: null,
      revokedAt: null,
      expiresAt: null,
      overlapEndsAt: null,
      createdBy: operatorTestPrincipal.keyId,
      revokedBy: null,
    });
    for (const key of keys) {
      expect(text).not.toContain(key);
      expect(text).not.toContain(hashApiKey(key));
    }
  });

  it("names the location of a key, and states when the overlap of its rotation ends", async () => {
    const locationId = await createTestLocationAndGetId(accounts);
    await createKey(locationId);
    const path = `/v1/auth/keys/?locationId=${locationId}`;
    const [key] = (await accounts.getJson(path, ApiKeyPage)).data;
    expect(key).toMatchObject({ locationName: "Le Bistrot", overlapEndsAt: null });
    const rotation = { method: "POST", path: `/v1/auth/keys/${key?.id}/rotate`, body: { overlapSeconds: 60 } };
    const { previousKeyExpiresAt } = await accounts.sendJson(rotation, { status: 201, schema: RotatedApiKey });
    const [successor, previous] = (await accounts.getJson(path, ApiKeyPage)).data;
    expect(successor).toMatchObject({ expiresAt: null, overlapEndsAt: null });
    expect(previous).toMatchObject({ expiresAt: previousKeyExpiresAt, overlapEndsAt: previousKeyExpiresAt });
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

describe("the expiry of a key", () => {
  const createExpiringKey = (expiresAt: string) =>
    accounts.sendJson(
      { method: "POST", path: "/v1/auth/keys/", body: { locationId: ownLocationId, consumerName: "Acme", expiresAt } },
      { status: 201, schema: CreatedApiKey },
    );

  it("is listed and returned to gateways", async () => {
    const expiresAt = "2127-05-29T10:17:19.000Z";
    const { apiKey } = await createExpiringKey(expiresAt);
    expect(await resolveKey(apiKey)).toMatchObject({ expiresAt, revokedAt: null });
    const { data } = await accounts.getJson("/v1/auth/keys/?size=1", ApiKeyPage);
    expect(data[0]).toMatchObject({ prefix: apiKey.slice(0, 14), expiresAt });
  });

  it("must be in the future", async () => {
    const body = { locationId: ownLocationId, consumerName: "Acme", expiresAt: "2026-01-01T00:00:00Z" };
    const problem = await accounts.requestProblem({ method: "POST", path: "/v1/auth/keys/", body });
    expect(problem.errors).toMatchObject([{ path: "expiresAt", message: "Must be in the future" }]);
  });
});

describe("POST /v1/auth/keys/{id}/rotate", () => {
  const rotate = (id: string, body: object = {}, principal = operatorTestPrincipal) =>
    accounts.sendJson(
      { method: "POST", path: `/v1/auth/keys/${id}/rotate`, principal, body },
      { status: 201, schema: RotatedApiKey },
    );
  const hoursUntil = (time: string | null) => (Date.parse(time ?? "") - Date.now()) / 3_600_000;

  it("returns a new key with the same consumer, and lets the previous key work for 24 hours", async () => {
    const previous = await resolveKey(await createKey());
    const rotated = await rotate(previous.keyId);
    expect(hoursUntil(rotated.previousKeyExpiresAt)).toBeCloseTo(24, 1);
    const { keyId, ...newKey } = await resolveKey(rotated.apiKey);
    const { keyId: previousId, ...previousKey } = previous;
    expect(keyId).toBe(rotated.id);
    expect(newKey).toEqual(previousKey);
    const { data } = await accounts.getJson("/v1/auth/keys/?size=2", ApiKeyPage);
    expect(data).toMatchObject([
      { id: keyId, createdBy: operatorTestPrincipal.keyId, expiresAt: null },
      { id: previousId, expiresAt: rotated.previousKeyExpiresAt, revokedAt: null },
    ]);
  });

  it("creates one key for concurrent rotations with the same Idempotency-Key", async () => {
    const locationId = await createTestLocationAndGetId(accounts);
    const { keyId } = await resolveKey(await createKey(locationId));
    const headers = { "idempotency-key": randomUUID() };
    const path = `/v1/auth/keys/${keyId}/rotate`;
    const send = () => accounts.request("POST", path, { principal: operatorTestPrincipal, body: {}, headers });
    const statuses = (await Promise.all([send(), send(), send(), send()])).map(({ status }) => status);
    expect(new Set([...statuses, 409])).toEqual(new Set([201, 409]));
    expect((await send()).headers.get("idempotency-replayed")).toBe("true");
    const { data } = await accounts.getJson(`/v1/auth/keys/?locationId=${locationId}`, ApiKeyPage);
    expect(data).toHaveLength(2);
  });

  it("publishes key.changed for both keys, so that gateways learn the end of the overlap", async () => {
    const { keyId } = await resolveKey(await createKey());
    const { id } = await rotate(keyId, { overlapSeconds: 60 });
    expect(await accounts.findEvents("key.changed", keyId)).toMatchObject([{ revoked: false }, { revoked: false }]);
    expect(await accounts.findEvents("key.changed", id)).toMatchObject([{ revoked: false }]);
  });

  it("revokes a leaked key at once", async () => {
    const key = await createKey();
    const { keyId } = await resolveKey(key);
    await rotate(keyId, { isLeaked: true, overlapSeconds: 3_600 });
    expect((await resolveKey(key)).revokedAt).not.toBeNull();
    expect((await accounts.findEvents("key.changed", keyId)).at(-1)).toMatchObject({ revoked: true });
    const { data } = await accounts.getJson("/v1/auth/keys/?size=2", ApiKeyPage);
    expect(data[1]).toMatchObject({ id: keyId, revokedBy: operatorTestPrincipal.keyId });
  });

  it("gives the new key the lifetime of the previous key, not the rest of its overlap", async () => {
    const body = { locationId: ownLocationId, consumerName: "Acme", expiresAt: inHours(100) };
    const created = { method: "POST", path: "/v1/auth/keys/", body };
    const { apiKey } = await accounts.sendJson(created, { status: 201, schema: CreatedApiKey });
    const { keyId } = await resolveKey(apiKey);
    for (const _ of ["first rotation", "repeated rotation, such as after a lost response"]) {
      const { expiresAt, previousKeyExpiresAt } = await rotate(keyId, { overlapSeconds: 7_200 });
      expect(hoursUntil(expiresAt)).toBeCloseTo(100, 1);
      expect(hoursUntil(previousKeyExpiresAt)).toBeCloseTo(2, 1);
    }
    expect(hoursUntil((await rotate(keyId, { expiresAt: inHours(5) })).expiresAt)).toBeCloseTo(5, 1);
  });

  it("rejects a revoked key, an expired key, and an overlap of more than 30 days", async () => {
    const { keyId: revoked } = await resolveKey(await createKey());
    await rotate(revoked, { isLeaked: true });
    const { keyId: expired } = await resolveKey(await createKey());
    await rotate(expired, { overlapSeconds: 0 });
    for (const id of [revoked, expired]) {
      const problem = await accounts.requestProblem({ method: "POST", path: `/v1/auth/keys/${id}/rotate`, body: {} });
      expect(problem.code).toBe("key_inactive");
    }
    const body = { overlapSeconds: 30 * 86_400 + 1 };
    const path = `/v1/auth/keys/${(await resolveKey(await createKey())).keyId}/rotate`;
    expect((await accounts.requestProblem({ method: "POST", path, body })).code).toBe("invalid_request");
  });

  it("lets a key rotate only keys of its location whose scopes it has", async () => {
    const { keyId } = await resolveKey(await createKey());
    const path = `/v1/auth/keys/${keyId}/rotate`;
    const other = buildTestLocationPrincipal(otherLocationId, "keys:write");
    expect((await accounts.requestProblem({ method: "POST", path, principal: other, body: {} })).code).toBe(
      "key_not_found",
    );
    const weaker = buildTestLocationPrincipal(ownLocationId, "keys:write", "reports:read");
    expect((await accounts.requestProblem({ method: "POST", path, principal: weaker, body: {} })).code).toBe(
      "scope_missing",
    );
  });

  it("returns 409 for a location's 101st active key of a consumer, but still replaces a leaked key", async () => {
    const { keyId } = await resolveKey(await createKey(otherLocationId));
    await accounts.db.sql`
      insert into api_keys (id, hash, prefix, consumer_id, location_id, created_from, overlap_ends_at)
      select gen_random_uuid(), encode(sha256(random()::text::bytea), 'hex'), prefix, consumer_id, location_id,
        created_from, case when number > 99 then now() end
      from api_keys, generate_series(1, 105) as number where id = ${keyId}`;
    const principal = buildTestLocationPrincipal(otherLocationId, "keys:write", ...defaultApiConsumerScopes);
    const rotation = { method: "POST", path: `/v1/auth/keys/${keyId}/rotate`, principal, body: {} };
    expect(await accounts.requestProblem(rotation)).toMatchObject({
      code: "limit_reached",
      limit: { name: "active_api_keys", maximum: 100 },
    });
    await rotate(keyId, { isLeaked: true }, principal);
  });
});

describe("a key that expires", () => {
  const scopes = ["keys:write", "consumers:write", ...defaultApiConsumerScopes] as const;

  async function createExpiringPrincipal(...more: ["locations:any"] | []) {
    const body = { locationId: ownLocationId, consumerName: "Acme", expiresAt: inHours(5) };
    const created = { method: "POST", path: "/v1/auth/keys/", body };
    const { apiKey } = await accounts.sendJson(created, { status: 201, schema: CreatedApiKey });
    const { keyId, expiresAt } = await resolveKey(apiKey);
    return { principal: { ...buildTestLocationPrincipal(ownLocationId, ...scopes, ...more), keyId }, keyId, expiresAt };
  }
  const rotationOf = (id: string, principal: typeof operatorTestPrincipal, body: object) => ({
    ...{ method: "POST", path: `/v1/auth/keys/${id}/rotate`, principal, body },
  });
  const tooLate = { code: "invalid_request", errors: [{ path: "expiresAt", code: "too_big" }] };
  const rotated = { status: 201, schema: RotatedApiKey } as const;

  it("cannot rotate itself or another key to one that expires later", async () => {
    const { principal, keyId, expiresAt } = await createExpiringPrincipal();
    const { keyId: otherId } = await resolveKey(await createKey());
    for (const id of [keyId, otherId]) {
      const problem = await accounts.requestProblem(rotationOf(id, principal, { expiresAt: inHours(6) }));
      expect(problem).toMatchObject(tooLate);
      expect(problem.errors?.[0]?.message).toContain(expiresAt);
      expect((await accounts.sendJson(rotationOf(id, principal, {}), rotated)).expiresAt).toBe(expiresAt);
    }
    const earlier = inHours(4);
    const shorter = await accounts.sendJson(rotationOf(keyId, principal, { expiresAt: earlier }), rotated);
    expect(shorter.expiresAt).toBe(earlier);
  });

  it("can create only keys that expire with it or earlier", async () => {
    const { principal, expiresAt } = await createExpiringPrincipal();
    const consumer = { name: "Acme of the location" };
    await accounts.sendJson(
      { method: "POST", path: "/v1/consumers/", principal, body: consumer },
      { status: 201, schema: ApiConsumer },
    );
    const body = { locationId: ownLocationId, consumerName: consumer.name };
    const create = { method: "POST", path: "/v1/auth/keys/", principal };
    expect(await accounts.requestProblem({ ...create, body: { ...body, expiresAt: inHours(6) } })).toMatchObject(
      tooLate,
    );
    const { apiKey } = await accounts.sendJson({ ...create, body }, { status: 201, schema: CreatedApiKey });
    expect(await resolveKey(apiKey)).toMatchObject({ expiresAt });
  });

  it("can be extended by a key that does not expire, and extends other keys if it is an operator's", async () => {
    const { keyId } = await createExpiringPrincipal();
    const later = inHours(500);
    const unlimited = buildTestLocationPrincipal(ownLocationId, ...scopes);
    const operator = await createExpiringPrincipal("locations:any");
    for (const principal of [unlimited, operator.principal])
      expect((await accounts.sendJson(rotationOf(keyId, principal, { expiresAt: later }), rotated)).expiresAt).toBe(
        later,
      );
    const own = rotationOf(operator.keyId, operator.principal, { expiresAt: later });
    expect(await accounts.requestProblem(own)).toMatchObject(tooLate);
  });
});

describe("the daily quota of changes of a location", () => {
  it("counts each key of a changed consumer, and does not prevent revocations", async () => {
    const scopes = ["keys:write", "consumers:write", ...defaultApiConsumerScopes] as const;
    const principal = buildTestLocationPrincipal(ownLocationId, ...scopes);
    const request = { method: "POST", path: "/v1/consumers/", principal, body: { name: "Own" } };
    const { id } = await accounts.sendJson(request, { status: 201, schema: ApiConsumer });
    const body = { locationId: ownLocationId, consumerName: "Own" };
    const creation = { method: "POST", path: "/v1/auth/keys/", principal, body };
    const createOwnKey = () => accounts.sendJson(creation, { status: 201, schema: CreatedApiKey });
    const keys = [await createOwnKey(), await createOwnKey()];
    await accounts.db.sql`
      update daily_usage set used = 19999 where location_id = ${ownLocationId} and quota = 'changes'`;
    const change = { method: "PATCH", path: `/v1/consumers/${id}`, principal, body: { scopes: ["reports:read"] } };
    expect(await accounts.requestProblem(change)).toMatchObject({
      code: "quota_exceeded",
      limit: { name: "changes", maximum: 20_000 },
    });
    const revoke = async (key = "") =>
      accounts.request("DELETE", `/v1/auth/keys/${(await resolveKey(key)).keyId}`, { principal });
    expect((await revoke(keys[0]?.apiKey)).status).toBe(204);
    await accounts.sendJson(change, { status: 200, schema: ApiConsumer });
    expect((await accounts.requestProblem(creation)).code).toBe("quota_exceeded");
    expect((await revoke(keys[1]?.apiKey)).status).toBe(204);
    // Operators have no quota.
    await createKey();
  });
});

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

describe("GET /v1/auth/keys/current", () => {
  const getCurrent = (principal: Principal) => accounts.getJson("/v1/auth/keys/current", CurrentApiKey, principal);

  it("returns what a key may do, for which location, until when", async () => {
    const key = await createKey();
    const { keyId, consumer, scopes, location } = await resolveKey(key);
    await accounts.sendJson(
      {
        ...{ method: "PATCH", path: `/v1/locations/${ownLocationId}` },
        body: { currencyCode: "CHF", locationSettings: { locationName: "Chez Max", timezone: "Europe/Zurich" } },
      },
      { status: 200, schema: z.unknown() },
    );
    const current = await getCurrent({ keyId, consumer, scopes, location });
    expect(current).toMatchObject({
      id: keyId,
      prefix: key.slice(0, 14),
      expiresAt: null,
      consumer: { name: "Acme" },
      scopes: [...defaultApiConsumerScopes],
      rateLimit: { perSecond: 100, burst: 2_000 },
      location: {
        id: ownLocationId,
        name: "Chez Max",
        application: "POPINA",
        timezone: "Europe/Zurich",
        currencyCode: "CHF",
      },
    });
  });

  it("shows the end of the overlap of a rotated key, and the rate limit of its consumer", async () => {
    const { keyId, ...principal } = await resolveKey(await createKey());
    const rotated = await accounts.sendJson(
      { method: "POST", path: `/v1/auth/keys/${keyId}/rotate`, body: { overlapSeconds: 60 } },
      { status: 201, schema: RotatedApiKey },
    );
    const { consumer } = await getCurrent({ ...principal, keyId });
    await accounts.sendJson(
      {
        ...{ method: "PATCH", path: `/v1/consumers/${consumer.id}` },
        body: { rateLimit: { perSecond: 7, burst: 9 } },
      },
      { status: 200, schema: ApiConsumer },
    );
    expect(await getCurrent({ ...principal, keyId })).toMatchObject({
      expiresAt: rotated.previousKeyExpiresAt,
      rateLimit: { perSecond: 7, burst: 9 },
    });
  });

  it("needs no scope, and returns no location to an operator", async () => {
    const [{ id: keyId } = { id: "" }] = await accounts.db.sql<{ id: string }[]>`
      select id from api_keys where location_id is null limit 1`;
    expect(await getCurrent(buildTestPrincipal({ keyId, scopes: [], location: null }))).toMatchObject({
      id: keyId,
      scopes: ["admin"],
      location: null,
    });
  });

  it("responds that the key does not exist if it was removed with its location", async () => {
    const path = "/v1/auth/keys/current";
    const principal = buildTestPrincipal({ keyId: randomUUID(), scopes: [] });
    expect((await accounts.requestProblem({ method: "GET", path, principal })).code).toBe("key_not_found");
  });
});
