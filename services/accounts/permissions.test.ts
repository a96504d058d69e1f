import { randomUUID } from "node:crypto";
import { ApiConsumer, ApiKey, CreatedApiKey, type RateLimit } from "@pragma/contracts/api-consumer";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { ResolvedApiKey } from "@pragma/contracts/principal";
import { type ApiScope, apiScopeNames } from "@pragma/contracts/scopes";
import { hashApiKey } from "@pragma/runtime/security/api-key";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildLocationImport, importTestLocation } from "./testing/location-fixtures.ts";
import {
  type AccountsServiceUnderTest,
  buildTestLocationPrincipal,
  gatewayConsumerTestPrincipal,
  operatorTestPrincipal,
  startAccountsServiceUnderTest,
  testAdminKey,
} from "./testing/start-test-accounts.ts";

let accounts: AccountsServiceUnderTest;
let ownLocationId: string;
let otherLocationId: string;
beforeAll(async () => {
  accounts = await startAccountsServiceUnderTest();
  otherLocationId = await importTestLocation(accounts, buildLocationImport());
});
afterAll(() => accounts.remove());

let createdConsumers = 0;
let consumer: ApiConsumer;
beforeEach(async () => {
  // A location of its own for each test, because a location can have only 50 consumers.
  ownLocationId = await importTestLocation(accounts, buildLocationImport());
  consumer = await createConsumer();
});

/** Creates a consumer of the location, or of the operators if `locationId` is null, and grants it these scopes. */
async function createConsumerAt(locationId: string | null, ...scopes: ApiScope[]): Promise<ApiConsumer> {
  const principal =
    locationId === null
      ? operatorTestPrincipal
      : buildTestLocationPrincipal(locationId, "consumers:write", ...readScopes);
  const create = {
    method: "POST",
    path: "/v1/consumers/",
    body: { name: `Consumer ${++createdConsumers}` },
    principal,
  };
  const created = await accounts.sendJson(create, { status: 201, schema: ApiConsumer });
  const change = {
    method: "PATCH",
    path: `/v1/consumers/${created.id}`,
    body: { scopes: [...created.scopes, ...scopes] },
  };
  return accounts.sendJson(change, { status: 200, schema: ApiConsumer });
}

const createConsumer = (...scopes: ApiScope[]) => createConsumerAt(ownLocationId, ...scopes);

/** Creates a key as the operator and returns its id. */
async function createKey(locationId: string, { name }: ApiConsumer): Promise<string> {
  const request = { method: "POST", path: "/v1/auth/keys/", body: { locationId, consumerName: name } };
  const { apiKey } = await accounts.sendJson(request, { status: 201, schema: CreatedApiKey });
  return (await accounts.getJson(`/internal/keys/${hashApiKey(apiKey)}`, ResolvedApiKey, gatewayConsumerTestPrincipal))
    .keyId;
}

async function requestOutcome(method: string, path: string, principal: Principal, body?: unknown): Promise<string> {
  const response = await accounts.request(method, path, { principal, ...(body !== undefined && { body }) });
  return response.ok ? "done" : ((await response.json()) as { code: string }).code;
}

const readScopes: ApiScope[] = ["reports:read", "orders:read", "catalog:read", "locations:read", "usage:read"];
const tryCreateKey = (principal: Principal, locationId: string, consumerName: string) =>
  requestOutcome("POST", "/v1/auth/keys/", principal, { locationId, consumerName });
const trySetScopes = (principal: Principal, id: string, scopes: ApiScope[]) =>
  requestOutcome("PATCH", `/v1/consumers/${id}`, principal, { scopes });
const findScopes = async (id: string) => {
  const { data } = await accounts.getJson("/v1/consumers/?size=100", paginatedSchema(ApiConsumer));
  return data.find((each) => each.id === id)?.scopes;
};

describe("a key that may manage keys", () => {
  const manager = () => buildTestLocationPrincipal(ownLocationId, "keys:write", ...readScopes);

  it("creates keys at its own location for consumers without more permissions than itself", async () => {
    expect(await tryCreateKey(manager(), ownLocationId, consumer.name)).toBe("done");
  });

  it("creates no keys at another location, whether or not that location exists", async () => {
    expect(await tryCreateKey(manager(), otherLocationId, consumer.name)).toBe("location_forbidden");
    expect(await tryCreateKey(manager(), "11111111-1111-4111-8111-111111111111", consumer.name)).toBe(
      "location_forbidden",
    );
  });

  it.each(["tills:write", "consumers:write", "locations:any", "admin"] as const)(
    "creates no keys for a consumer with the scope %s, which the creating key lacks",
    async (scope) => {
      const privileged = await createConsumer(scope);
      expect(await tryCreateKey(manager(), ownLocationId, privileged.name)).toBe("scope_missing");
      expect((await accounts.getJson("/v1/auth/keys/?size=100", paginatedSchema(ApiKey))).data).not.toContainEqual(
        expect.objectContaining({ consumerName: privileged.name }),
      );
    },
  );

  it("creates no keys for the operator's own consumer", async () => {
    expect(await tryCreateKey(manager(), ownLocationId, "admin")).toBe("consumer_not_found");
    const everythingElse = apiScopeNames.filter((scope) => scope !== "admin");
    expect(
      await tryCreateKey(buildTestLocationPrincipal(ownLocationId, ...everythingElse), ownLocationId, "admin"),
    ).toBe("scope_missing");
  });

  it("returns the same error for a consumer of another location as for an unknown consumer", async () => {
    const requestKeyProblem = async (consumerName: string) => {
      const request = { method: "POST", path: "/v1/auth/keys/", principal: manager() };
      const { requestId, detail, ...problem } = await accounts.requestProblem({
        ...request,
        body: { locationId: ownLocationId, consumerName },
      });
      return { ...problem, detail: detail.replace(consumerName, "X") };
    };
    const unknownConsumerProblem = await requestKeyProblem("Unknown");
    expect(unknownConsumerProblem.code).toBe("consumer_not_found");
    expect(await requestKeyProblem((await createConsumerAt(otherLocationId)).name)).toEqual(unknownConsumerProblem);
    expect(await requestKeyProblem((await createConsumerAt(null)).name)).toEqual(unknownConsumerProblem);
  });

  it("creates no keys for a consumer with a higher rate limit than its own", async () => {
    const path = `/v1/consumers/${consumer.id}`;
    expect(
      await requestOutcome("PATCH", path, operatorTestPrincipal, { rateLimit: { perSecond: 101, burst: 1 } }),
    ).toBe("done");
    expect(await tryCreateKey(manager(), ownLocationId, consumer.name)).toBe("rate_limit_forbidden");
    expect(await tryCreateKey(operatorTestPrincipal, ownLocationId, consumer.name)).toBe("done");
  });

  it("creates keys at any location with locations:any, but for no consumer with more scopes", async () => {
    const anyLocationManager = buildTestLocationPrincipal(ownLocationId, "keys:write", "locations:any", ...readScopes);
    expect(await tryCreateKey(anyLocationManager, otherLocationId, (await createConsumerAt(null)).name)).toBe("done");
    expect(await tryCreateKey(anyLocationManager, ownLocationId, consumer.name)).toBe("done");
    expect(await tryCreateKey(anyLocationManager, otherLocationId, consumer.name)).toBe("consumer_not_found");
    const privileged = await createConsumerAt(null, "tills:read");
    expect(await tryCreateKey(anyLocationManager, otherLocationId, privileged.name)).toBe("scope_missing");
  });

  it("creates no key for a consumer that concurrently gets more scopes", async () => {
    const moreScopes = ["reports:read", "tills:write"];
    let keyOutcome: Promise<string> | undefined;
    await accounts.db.transaction(async (tx) => {
      await tx`update consumers set scopes = ${moreScopes} where id = ${consumer.id}`;
      keyOutcome = tryCreateKey(manager(), ownLocationId, consumer.name);
      await eventually("the key to wait for the consumer", async () => {
        const [waiting] = await tx`
          select 1 from pg_locks where not granted and locktype = 'transactionid'
          and transactionid = pg_current_xact_id()::xid`;
        return waiting !== undefined;
      });
    });
    expect(await keyOutcome).toBe("scope_missing");
  });

  it("revokes keys of its own location, and returns 404 for other keys", async () => {
    const own = await createKey(ownLocationId, consumer);
    const others = await createKey(otherLocationId, await createConsumerAt(otherLocationId));
    expect(await requestOutcome("DELETE", `/v1/auth/keys/${own}`, manager())).toBe("done");
    expect(await requestOutcome("DELETE", `/v1/auth/keys/${others}`, manager())).toBe("key_not_found");
    const anyLocationManager = buildTestLocationPrincipal(ownLocationId, "keys:write", "locations:any");
    expect(await requestOutcome("DELETE", `/v1/auth/keys/${others}`, anyLocationManager)).toBe("done");
  });

  it("does not revoke the operator's key", async () => {
    const { keyId } = await accounts.getJson(
      `/internal/keys/${hashApiKey(testAdminKey)}`,
      ResolvedApiKey,
      gatewayConsumerTestPrincipal,
    );
    const path = `/v1/auth/keys/${keyId}`;
    expect(await requestOutcome("DELETE", path, manager())).toBe("key_not_found");
    expect(
      await requestOutcome("DELETE", path, buildTestLocationPrincipal(ownLocationId, "keys:write", "locations:any")),
    ).toBe("scope_missing");
    const { revokedAt } = await accounts.getJson(
      `/internal/keys/${hashApiKey(testAdminKey)}`,
      ResolvedApiKey,
      gatewayConsumerTestPrincipal,
    );
    expect(revokedAt).toBeNull();
  });

  it("does not revoke a key of its own location with the scope admin", async () => {
    const id = await createKey(ownLocationId, await createConsumer("admin"));
    expect(await requestOutcome("DELETE", `/v1/auth/keys/${id}`, manager())).toBe("scope_missing");
    expect(await requestOutcome("DELETE", `/v1/auth/keys/${id}`, operatorTestPrincipal)).toBe("done");
  });

  it("returns 403 when it has neither a location nor locations:any", async () => {
    const withoutLocation = { ...manager(), location: null };
    expect(await tryCreateKey(withoutLocation, ownLocationId, consumer.name)).toBe("location_forbidden");
    expect(await requestOutcome("GET", "/v1/auth/keys/", withoutLocation)).toBe("location_forbidden");
    expect(
      await requestOutcome("DELETE", `/v1/auth/keys/${await createKey(ownLocationId, consumer)}`, withoutLocation),
    ).toBe("location_forbidden");
  });
});

describe("a key that may manage consumers", () => {
  const manager = () => buildTestLocationPrincipal(ownLocationId, "consumers:write", ...readScopes);

  it("grants scopes that it has", async () => {
    expect(await trySetScopes(manager(), consumer.id, ["consumers:write", "reports:read"])).toBe("done");
    expect(await findScopes(consumer.id)).toEqual(["consumers:write", "reports:read"]);
  });

  it.each(["keys:write", "tills:write", "locations:any", "admin"] as const)(
    "does not grant %s, which it lacks itself",
    async (scope) => {
      expect(await trySetScopes(manager(), consumer.id, [...readScopes, scope])).toBe("scope_missing");
      expect(await findScopes(consumer.id)).toEqual(readScopes);
    },
  );

  it("does not grant admin with every other scope", async () => {
    const everythingElse = apiScopeNames.filter((scope) => scope !== "admin");
    expect(
      await trySetScopes(buildTestLocationPrincipal(ownLocationId, ...everythingElse), consumer.id, ["admin"]),
    ).toBe("scope_missing");
    expect(await trySetScopes(operatorTestPrincipal, consumer.id, ["admin"])).toBe("done");
  });

  it("cannot reduce the scopes or the rate limit of a consumer with more scopes than itself", async () => {
    const privileged = await createConsumer("tills:write");
    expect(await trySetScopes(manager(), privileged.id, [])).toBe("scope_missing");
    const path = `/v1/consumers/${privileged.id}`;
    expect(await requestOutcome("PATCH", path, manager(), { rateLimit: { perSecond: 1, burst: 1 } })).toBe(
      "scope_missing",
    );
    expect(await findScopes(privileged.id)).toEqual(privileged.scopes);
  });

  it("cannot change the operator's own consumer", async () => {
    const { data } = await accounts.getJson("/v1/consumers/?size=100", paginatedSchema(ApiConsumer));
    const admin = data.find(({ name }) => name === "admin")?.id ?? "";
    expect(await trySetScopes(manager(), admin, ["reports:read"])).toBe("consumer_not_found");
    expect(
      await trySetScopes(buildTestLocationPrincipal(ownLocationId, "consumers:write", "locations:any"), admin, []),
    ).toBe("scope_missing");
  });

  it("cannot change a consumer with keys of another location", async () => {
    const others = await createKey(otherLocationId, await createConsumerAt(null));
    await accounts.db.sql`update api_keys set consumer_id = ${consumer.id} where id = ${others}`;
    expect(await trySetScopes(manager(), consumer.id, [])).toBe("consumer_not_found");
    expect(
      await tryCreateKey(
        buildTestLocationPrincipal(ownLocationId, "keys:write", ...readScopes),
        ownLocationId,
        consumer.name,
      ),
    ).toBe("consumer_not_found");
    const anyLocationManager = buildTestLocationPrincipal(
      ownLocationId,
      "consumers:write",
      "locations:any",
      ...readScopes,
    );
    expect(await trySetScopes(anyLocationManager, consumer.id, ["reports:read", "orders:read"])).toBe("done");
  });

  it("lists and changes only consumers that its location created, even if the location has keys of other consumers", async () => {
    const theirs = await createConsumerAt(otherLocationId);
    const operators = await createConsumerAt(null);
    await createKey(ownLocationId, operators);
    const listConsumers = async (principal: Principal) => {
      const { data, meta } = await accounts.getJson("/v1/consumers/?size=100", paginatedSchema(ApiConsumer), principal);
      expect(meta.totalCount).toBe(data.length);
      return data;
    };
    const all = (await listConsumers(operatorTestPrincipal)).map(({ name }) => name);
    expect(all).toEqual(expect.arrayContaining(["admin", theirs.name, operators.name, consumer.name]));
    const visible = await listConsumers(manager());
    expect(visible).toContainEqual(expect.objectContaining({ id: consumer.id, name: consumer.name }));
    expect(new Set(visible.map(({ locationId }) => locationId))).toEqual(new Set([ownLocationId]));

    const unknownId = "11111111-1111-4111-8111-111111111111";
    for (const id of [theirs.id, operators.id, unknownId]) {
      const request = { method: "PATCH", path: `/v1/consumers/${id}`, body: { rateLimit: null }, principal: manager() };
      const { code, detail } = await accounts.requestProblem(request);
      expect({ code, detail }).toEqual({ code: "consumer_not_found", detail: `There is no consumer ${id}.` });
    }
    const withoutLocation = { ...manager(), location: null };
    expect(await requestOutcome("GET", "/v1/consumers/", withoutLocation)).toBe("location_forbidden");
    expect(await requestOutcome("POST", "/v1/consumers/", withoutLocation, { name: "Without location" })).toBe(
      "location_forbidden",
    );
    expect(await requestOutcome("PATCH", `/v1/consumers/${consumer.id}`, withoutLocation, {})).toBe(
      "location_forbidden",
    );
  });

  it("can create a consumer with a name that another location or the operators use", async () => {
    const create = (principal: Principal, name: string) =>
      requestOutcome("POST", "/v1/consumers/", principal, { name });
    expect(await create(operatorTestPrincipal, "Popular")).toBe("done");
    expect(await create(manager(), "Popular")).toBe("done");
    expect(await create(buildTestLocationPrincipal(otherLocationId, "consumers:write"), "Popular")).toBe("done");
    expect(await create(manager(), "Popular")).toBe("consumer_exists");
    expect(await create(buildTestLocationPrincipal(ownLocationId, "consumers:write", "locations:any"), "Popular")).toBe(
      "consumer_exists",
    );
    expect(await create(manager(), "admin")).toBe("done");
    const { data } = await accounts.getJson("/v1/consumers/?size=100", paginatedSchema(ApiConsumer));
    const popular = data.filter(({ name }) => name === "Popular").map(({ locationId }) => locationId);
    // Consumers that are created within one millisecond are listed in the order of their random ids.
    expect(popular).toHaveLength(3);
    expect(new Set(popular)).toEqual(new Set([otherLocationId, ownLocationId, null]));

    const keyFor = async (principal: Principal) => {
      const request = { method: "POST", path: "/v1/auth/keys/", principal };
      const body = { locationId: ownLocationId, consumerName: "Popular" };
      const { apiKey } = await accounts.sendJson({ ...request, body }, { status: 201, schema: CreatedApiKey });
      return (
        await accounts.getJson(`/internal/keys/${hashApiKey(apiKey)}`, ResolvedApiKey, gatewayConsumerTestPrincipal)
      ).consumer;
    };
    expect(await keyFor(operatorTestPrincipal)).toBe("Popular");
    // Responses and jobs are stored under this name, so it must differ from the name of the operators' consumer.
    expect(await keyFor(buildTestLocationPrincipal(ownLocationId, "keys:write", ...readScopes))).toBe(
      `${ownLocationId}:Popular`,
    );
  });

  it("rejects the name of a consumer that its location created before names were scoped by location", async () => {
    const id = randomUUID();
    await accounts.db.sql`
      insert into consumers (id, name, scopes, location_id) values (${id}, 'Unscoped', ${["reports:read"]}, ${ownLocationId})`;
    expect(await requestOutcome("POST", "/v1/consumers/", manager(), { name: "Unscoped" })).toBe("consumer_exists");
    expect(
      await requestOutcome("POST", "/v1/consumers/", buildTestLocationPrincipal(otherLocationId, "consumers:write"), {
        name: "Unscoped",
      }),
    ).toBe("done");
    expect(await trySetScopes(manager(), id, [])).toBe("done");
    expect(await tryCreateKey(buildTestLocationPrincipal(ownLocationId, "keys:write"), ownLocationId, "Unscoped")).toBe(
      "done",
    );
  });

  it("creates consumers with at most its own scopes and rate limit", async () => {
    const principal = {
      ...buildTestLocationPrincipal(ownLocationId, "consumers:write", "reports:read"),
      keyId: await createKeyWithRateLimit({ perSecond: 5, burst: 9 }),
    };
    const request = {
      method: "POST",
      path: "/v1/consumers/",
      principal,
      body: { name: `Consumer ${++createdConsumers}` },
    };
    const { scopes, rateLimit } = await accounts.sendJson(request, { status: 201, schema: ApiConsumer });
    expect({ scopes, rateLimit }).toEqual({ scopes: ["reports:read"], rateLimit: { perSecond: 5, burst: 9 } });
  });

  it.each([
    {
      own: { perSecond: 10, burst: 20 },
      allowed: [
        { perSecond: 10, burst: 20 },
        { perSecond: 1, burst: 1 },
      ],
      rejected: [{ perSecond: 11, burst: 1 }, { perSecond: 1, burst: 21 }, null],
    },
    {
      own: null,
      allowed: [null, { perSecond: 100, burst: 2_000 }],
      rejected: [
        { perSecond: 101, burst: 1 },
        { perSecond: 1, burst: 2_001 },
      ],
    },
    {
      own: { perSecond: 500, burst: 5_000 },
      allowed: [{ perSecond: 500, burst: 5_000 }, null],
      rejected: [{ perSecond: 501, burst: 1 }],
    },
  ])(
    "with the rate limit $own grants no higher rate limit, not even to its own consumer",
    async ({ own, allowed, rejected }) => {
      const keyId = await createKeyWithRateLimit(own);
      const principal = { ...manager(), keyId };
      const [{ id = "" } = {}] = await accounts.db.sql<{ id: string }[]>`
      select consumer_id as id from api_keys where id = ${keyId}`;
      const other = await createConsumer();
      await requestOutcome("PATCH", `/v1/consumers/${other.id}`, operatorTestPrincipal, {
        rateLimit: { perSecond: 1, burst: 1 },
      });
      const setRateLimit = (consumerId: string, rateLimit: unknown) =>
        requestOutcome("PATCH", `/v1/consumers/${consumerId}`, principal, { rateLimit });
      for (const rateLimit of rejected) {
        expect(await setRateLimit(other.id, rateLimit)).toBe("rate_limit_forbidden");
        expect(await setRateLimit(id, rateLimit)).toBe("rate_limit_forbidden");
      }
      for (const rateLimit of allowed) expect(await setRateLimit(other.id, rateLimit)).toBe("done");
      // A key that lowers the rate limit of its own consumer cannot raise this limit again.
      expect(await setRateLimit(id, { perSecond: 2, burst: 2 })).toBe("done");
      expect(await setRateLimit(id, own)).toBe("rate_limit_forbidden");
      expect(await setRateLimit(id, { perSecond: 3, burst: 2 })).toBe("rate_limit_forbidden");
    },
  );

  it("cannot change a consumer whose rate limit is higher than its own", async () => {
    await requestOutcome("PATCH", `/v1/consumers/${consumer.id}`, operatorTestPrincipal, {
      rateLimit: { perSecond: 500, burst: 500 },
    });
    const path = `/v1/consumers/${consumer.id}`;
    expect(await requestOutcome("PATCH", path, manager(), { rateLimit: { perSecond: 1, burst: 1 } })).toBe(
      "rate_limit_forbidden",
    );
    expect(await trySetScopes(manager(), consumer.id, [])).toBe("rate_limit_forbidden");
  });

  it("cannot change its own consumer if it belongs to the operators", async () => {
    const own = await createConsumerAt(null, "consumers:write");
    const principal = { ...manager(), keyId: await createKey(ownLocationId, own), consumer: own.name };
    const path = `/v1/consumers/${own.id}`;
    expect(await requestOutcome("PATCH", path, principal, { rateLimit: { perSecond: 1, burst: 1 } })).toBe(
      "consumer_not_found",
    );
    expect(await trySetScopes(principal, own.id, readScopes)).toBe("consumer_not_found");
  });

  /** Creates a key for a new consumer with this rate limit, at the manager's location. Returns the id of the key. */
  async function createKeyWithRateLimit(rateLimit: RateLimit | null): Promise<string> {
    const own = await createConsumer();
    await requestOutcome("PATCH", `/v1/consumers/${own.id}`, operatorTestPrincipal, { rateLimit });
    return createKey(ownLocationId, own);
  }

  it("cannot grant scopes of internal services", async () => {
    expect(await trySetScopes(operatorTestPrincipal, consumer.id, ["internal" as ApiScope])).toBe("invalid_request");
  });
});
