import { randomUUID } from "node:crypto";
import { ApiConsumer, ApiKey, CreatedApiKey } from "@pragma/contracts/api-consumer";
import { CreateLocationResponse } from "@pragma/contracts/location";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AccountsServiceUnderTest,
  buildTestLocationPrincipal,
  operatorTestPrincipal,
  startAccountsServiceUnderTest,
} from "../testing/start-test-accounts.ts";

const ConsumerPage = paginatedSchema(ApiConsumer);

let accounts: AccountsServiceUnderTest;
beforeAll(async () => {
  accounts = await startAccountsServiceUnderTest();
});
afterAll(() => accounts.remove());

const createConsumer = (name: string) =>
  accounts.sendJson({ method: "POST", path: "/v1/consumers/", body: { name } }, { status: 201, schema: ApiConsumer });

const changeConsumer = (id: string, body: unknown) =>
  accounts.sendJson({ method: "PATCH", path: `/v1/consumers/${id}`, body }, { status: 200, schema: ApiConsumer });

describe("POST /v1/consumers/", () => {
  it("creates a consumer with the default scopes", async () => {
    const consumer = await createConsumer("Acme");
    expect(consumer).toEqual({
      id: consumer.id,
      createdAt: consumer.createdAt,
      updatedAt: consumer.createdAt,
      locationId: null,
      name: "Acme",
      scopes: ["reports:read", "orders:read", "catalog:read", "locations:read", "usage:read"],
      rateLimit: null,
    });
  });

  it("ignores scopes, which are set with PATCH", async () => {
    const body = { name: "Eager", scopes: ["admin"] };
    const request = { method: "POST", path: "/v1/consumers/", body };
    const { scopes } = await accounts.sendJson(request, { status: 201, schema: ApiConsumer });
    expect(scopes).not.toContain("admin");
  });

  it("returns 409 for a name in use, and accepts one of many concurrent requests", async () => {
    const request = {
      principal: buildTestLocationPrincipal(randomUUID(), "consumers:write"),
      body: { name: "Popular" },
    };
    const locationResponses = await Promise.all(
      Array.from({ length: 8 }, () => accounts.request("POST", "/v1/consumers/", request)),
    );
    expect(locationResponses.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    const asOperator = { ...request, principal: operatorTestPrincipal };
    const operatorResponses = await Promise.all(
      Array.from({ length: 8 }, () => accounts.request("POST", "/v1/consumers/", asOperator)),
    );
    expect(operatorResponses.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    const repeatedRequest = { method: "POST", path: "/v1/consumers/", ...asOperator };
    expect((await accounts.requestProblem(repeatedRequest)).code).toBe("consumer_exists");
  });

  it.each([{}, { name: "A" }, { name: "x".repeat(256) }, { name: 12 }, { name: "a\0b" }])(
    "returns 400 for %j",
    async (body) => {
      const problem = await accounts.requestProblem({ method: "POST", path: "/v1/consumers/", body });
      expect(problem).toMatchObject({ code: "invalid_request", errors: [{ in: "body", path: "name" }] });
    },
  );

  it("returns 409 for a location's 51st consumer, and creates more consumers of operators", async () => {
    const principal = buildTestLocationPrincipal(randomUUID(), "consumers:write");
    const create = (name: string) => ({ method: "POST", path: "/v1/consumers/", principal, body: { name } });
    await accounts.sendJson(create("first"), { status: 201, schema: ApiConsumer });
    await accounts.db.sql`
      insert into consumers (id, name, display_name, scopes, location_id)
      select gen_random_uuid(), name || number, display_name || number, scopes, location_id
      from consumers, generate_series(2, 50) as number where location_id = ${principal.location?.id ?? ""}`;
    expect(await accounts.requestProblem(create("one too many"))).toMatchObject({
      ...{ status: 409, code: "limit_reached" },
      limit: { name: "consumers", maximum: 50 },
    });
    await createConsumer("of operators");
  });

  it("returns 403 for a key without the scope", async () => {
    const principal = buildTestLocationPrincipal(randomUUID(), "keys:write");
    const request = { method: "POST", path: "/v1/consumers/", body: { name: "Rejected" }, principal };
    expect((await accounts.requestProblem(request)).code).toBe("scope_missing");
  });
});

describe("GET /v1/consumers/", () => {
  it("lists consumers, newest first, page by page and by token", async () => {
    await createConsumer("First of two");
    await createConsumer("Second of two");
    const page = await accounts.getJson("/v1/consumers/?size=1", ConsumerPage);
    expect(page.data.map(({ name }) => name)).toEqual(["Second of two"]);
    const next = await accounts.getJson(`/v1/consumers/?size=1&pageToken=${page.nextPageToken}`, ConsumerPage);
    expect(next.data.map(({ name }) => name)).toEqual(["First of two"]);
    expect(next.meta.currentPageIndex).toBe(1);
  });

  it("filters by name, in upper or lower case", async () => {
    const name = `Analytics_${randomUUID()}`;
    const created = await accounts.sendJson(
      { method: "POST", path: "/v1/consumers/", body: { name } },
      { status: 201, schema: ApiConsumer },
    );
    const list = (text: string) => accounts.getJson(`/v1/consumers/?name=${text}`, paginatedSchema(ApiConsumer));
    expect((await list(name.toUpperCase().slice(2))).data).toEqual([created]);
    expect((await list(name.replace("_", "x"))).data).toEqual([]);
  });

  it("includes the operator's own consumer", async () => {
    const { data } = await accounts.getJson("/v1/consumers/?size=100", ConsumerPage);
    expect(data.at(-1)).toMatchObject({ name: "admin", scopes: ["admin"] });
  });

  it("returns 400 for invalid pages and tokens", async () => {
    const problem = await accounts.requestProblem({ method: "GET", path: "/v1/consumers/?index=x&size=0" });
    expect(problem.errors?.map(({ path }) => path).sort()).toEqual(["index", "size"]);
    const forged = Buffer.from('{"at":"now","id":"7","index":1}').toString("base64url");
    const tokenProblem = await accounts.requestProblem({ method: "GET", path: `/v1/consumers/?pageToken=${forged}` });
    expect(tokenProblem.code).toBe("invalid_page_token");
  });
});

describe("PATCH /v1/consumers/{id}", () => {
  it("sets scopes without duplicates, and keeps the rate limit", async () => {
    const { id } = await createConsumer("Scoped");
    await changeConsumer(id, { rateLimit: { perSecond: 5, burst: 10 } });
    const changed = await changeConsumer(id, { scopes: ["tills:write", "reports:read", "tills:write"] });
    expect(changed).toMatchObject({
      scopes: ["tills:write", "reports:read"],
      rateLimit: { perSecond: 5, burst: 10 },
    });
    expect(changed.updatedAt > changed.createdAt).toBe(true);
  });

  it("sets and removes the rate limit, and keeps the scopes", async () => {
    const { id, scopes } = await createConsumer("Limited");
    expect(await changeConsumer(id, { rateLimit: { perSecond: 1, burst: 1 } })).toMatchObject({ scopes });
    expect(await changeConsumer(id, { rateLimit: null })).toMatchObject({ scopes, rateLimit: null });
  });

  it("can remove all scopes", async () => {
    const { id } = await createConsumer("Disarmed");
    expect((await changeConsumer(id, { scopes: [] })).scopes).toEqual([]);
  });

  it("publishes key.changed for its active keys", async () => {
    const { id, name } = await createConsumer("Remembered");
    const location = await accounts.sendJson(
      {
        method: "POST",
        path: "/v1/locations/import",
        body: { application: "POPINA", legacyId: 1, organizationId: "1", agencyId: "1" },
      },
      { status: 201, schema: CreateLocationResponse },
    );
    const body = { locationId: location.id, consumerName: name };
    for (let count = 0; count < 3; count++) {
      await accounts.sendJson({ method: "POST", path: "/v1/auth/keys/", body }, { status: 201, schema: CreatedApiKey });
    }
    const keys = (await accounts.getJson("/v1/auth/keys/", paginatedSchema(ApiKey))).data.filter(
      (key) => key.consumerName === name,
    );
    await accounts.request("DELETE", `/v1/auth/keys/${keys[0]?.id}`, {
      principal: buildTestLocationPrincipal(location.id, "admin"),
    });
    await changeConsumer(id, { scopes: ["reports:read"] });
    const eventsByKey = await Promise.all(keys.map((key) => accounts.findEvents("key.changed", key.id)));
    expect(eventsByKey.map((events) => events.map(({ revoked }) => revoked))).toEqual([
      [false, true],
      [false, false],
      [false, false],
    ]);
  });

  it("reports all issues at once, and changes nothing", async () => {
    const { id, scopes } = await createConsumer("Faulty");
    const body = { scopes: ["reports:read", "internal", "everything"], rateLimit: { perSecond: 0, burst: 1.5 } };
    const problem = await accounts.requestProblem({ method: "PATCH", path: `/v1/consumers/${id}`, body });
    expect(problem.errors?.map(({ path }) => path).sort()).toEqual([
      "rateLimit.burst",
      "rateLimit.perSecond",
      "scopes[1]",
      "scopes[2]",
    ]);
    expect(await changeConsumer(id, {})).toMatchObject({ scopes, rateLimit: null });
  });

  it("returns 404 for an unknown consumer, and 400 for an id that is not a UUID", async () => {
    const path = `/v1/consumers/${randomUUID()}`;
    expect((await accounts.requestProblem({ method: "PATCH", path, body: {} })).code).toBe("consumer_not_found");
    expect((await accounts.requestProblem({ method: "PATCH", path: "/v1/consumers/1", body: {} })).code).toBe(
      "invalid_request",
    );
  });

  it("rejects removing the scope admin from the operator's own consumer", async () => {
    const admin = (await accounts.getJson("/v1/consumers/?size=100", ConsumerPage)).data.find(
      ({ name }) => name === "admin",
    );
    const path = `/v1/consumers/${admin?.id}`;
    const problem = await accounts.requestProblem({ method: "PATCH", path, body: { scopes: ["reports:read"] } });
    expect(problem).toMatchObject({ code: "invalid_request", errors: [{ in: "body", path: "scopes" }] });
  });
});
