import { randomUUID } from "node:crypto";
import { ApiConsumer, ApiKey, CreatedApiKey, type RateLimit } from "@pragma/contracts/api-consumer";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { ResolvedKey } from "@pragma/contracts/principal";
import { type Scope, scopeNames } from "@pragma/contracts/scopes";
import { hashApiKey } from "@pragma/runtime/security/api-key";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { importTestLocation, legacyLocationBody } from "./testing/location-fixtures.ts";
import {
  gatewayTestPrincipal,
  locationPrincipal,
  operatorPrincipal,
  startTestAccounts,
  type TestAccountsService,
  testAdminKey,
} from "./testing/start-test-accounts.ts";

let accounts: TestAccountsService;
let ownLocationId: string;
let otherLocationId: string;
beforeAll(async () => {
  accounts = await startTestAccounts();
  ownLocationId = await importTestLocation(accounts, legacyLocationBody());
  otherLocationId = await importTestLocation(accounts, legacyLocationBody());
});
afterAll(() => accounts.remove());

let createdConsumers = 0;
let consumer: ApiConsumer;
beforeEach(async () => {
  consumer = await createConsumer();
});

/** A consumer that a key of this location created and the operator gave more scopes; without a location, the operators' own. */
async function createConsumerAt(locationId: string | null, ...scopes: Scope[]): Promise<ApiConsumer> {
  const principal =
    locationId === null ? operatorPrincipal : locationPrincipal(locationId, "consumers:write", ...readScopes);
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

const createConsumer = (...scopes: Scope[]) => createConsumerAt(ownLocationId, ...scopes);

/** Makes a key as the operator and gives its id. */
async function createKey(locationId: string, { name }: ApiConsumer): Promise<string> {
  const request = { method: "POST", path: "/v1/auth/keys/", body: { locationId, consumerName: name } };
  const { apiKey } = await accounts.sendJson(request, { status: 201, schema: CreatedApiKey });
  return (await accounts.getJson(`/internal/keys/${hashApiKey(apiKey)}`, ResolvedKey, gatewayTestPrincipal)).keyId;
}

async function requestOutcome(method: string, path: string, principal: Principal, body?: unknown): Promise<string> {
  const response = await accounts.request(method, path, { principal, ...(body !== undefined && { body }) });
  return response.ok ? "done" : ((await response.json()) as { code: string }).code;
}

const readScopes: Scope[] = ["reports:read", "orders:read", "catalog:read", "locations:read"];
const tryCreateKey = (principal: Principal, locationId: string, consumerName: string) =>
  requestOutcome("POST", "/v1/auth/keys/", principal, { locationId, consumerName });
const trySetScopes = (principal: Principal, id: string, scopes: Scope[]) =>
  requestOutcome("PATCH", `/v1/consumers/${id}`, principal, { scopes });
const findScopes = async (id: string) => {
  const { data } = await accounts.getJson("/v1/consumers/?size=100", paginatedSchema(ApiConsumer));
  return data.find((each) => each.id === id)?.scopes;
};

describe("a key that may manage keys", () => {
  const manager = () => locationPrincipal(ownLocationId, "keys:write", ...readScopes);

  it("makes keys for its own location and consumers that may do no more than itself", async () => {
    expect(await tryCreateKey(manager(), ownLocationId, consumer.name)).toBe("done");
  });

  it("makes none for another location, whether or not there is one", async () => {
    expect(await tryCreateKey(manager(), otherLocationId, consumer.name)).toBe("location_forbidden");
    expect(await tryCreateKey(manager(), "11111111-1111-4111-8111-111111111111", consumer.name)).toBe(
      "location_forbidden",
    );
  });

  it.each(["tills:write", "consumers:write", "locations:any", "admin"] as const)(
    "makes none for a consumer that has %s, which it lacks",
    async (scope) => {
      const stronger = await createConsumer(scope);
      expect(await tryCreateKey(manager(), ownLocationId, stronger.name)).toBe("scope_missing");
      expect((await accounts.getJson("/v1/auth/keys/?size=100", paginatedSchema(ApiKey))).data).not.toContainEqual(
        expect.objectContaining({ consumerName: stronger.name }),
      );
    },
  );

  it("makes none for the operator's own consumer", async () => {
    expect(await tryCreateKey(manager(), ownLocationId, "admin")).toBe("consumer_not_found");
    const everythingElse = scopeNames.filter((scope) => scope !== "admin");
    expect(await tryCreateKey(locationPrincipal(ownLocationId, ...everythingElse), ownLocationId, "admin")).toBe(
      "scope_missing",
    );
  });

  it("makes none for a consumer that its location did not create, as if there were none", async () => {
    const refusalOf = async (consumerName: string) => {
      const request = { method: "POST", path: "/v1/auth/keys/", principal: manager() };
      const { requestId, detail, ...problem } = await accounts.requestProblem({
        ...request,
        body: { locationId: ownLocationId, consumerName },
      });
      return { ...problem, detail: detail.replace(consumerName, "X") };
    };
    const none = await refusalOf("There is none");
    expect(none.code).toBe("consumer_not_found");
    expect(await refusalOf((await createConsumerAt(otherLocationId)).name)).toEqual(none);
    expect(await refusalOf((await createConsumerAt(null)).name)).toEqual(none);
  });

  it("makes none for a consumer with a higher rate limit than its own", async () => {
    const path = `/v1/consumers/${consumer.id}`;
    expect(await requestOutcome("PATCH", path, operatorPrincipal, { rateLimit: { perSecond: 101, burst: 1 } })).toBe(
      "done",
    );
    expect(await tryCreateKey(manager(), ownLocationId, consumer.name)).toBe("rate_limit_forbidden");
    expect(await tryCreateKey(operatorPrincipal, ownLocationId, consumer.name)).toBe("done");
  });

  it("makes them for any location with locations:any, still for no stronger consumer", async () => {
    const anywhere = locationPrincipal(ownLocationId, "keys:write", "locations:any", ...readScopes);
    expect(await tryCreateKey(anywhere, otherLocationId, (await createConsumerAt(null)).name)).toBe("done");
    expect(await tryCreateKey(anywhere, ownLocationId, consumer.name)).toBe("done");
    expect(await tryCreateKey(anywhere, otherLocationId, consumer.name)).toBe("consumer_not_found");
    const stronger = await createConsumerAt(null, "tills:read");
    expect(await tryCreateKey(anywhere, otherLocationId, stronger.name)).toBe("scope_missing");
  });

  it("makes none for a consumer that is being made stronger at the moment", async () => {
    const stronger = ["reports:read", "tills:write"];
    let made: Promise<string> | undefined;
    await accounts.db.transaction(async (tx) => {
      await tx`update consumers set scopes = ${stronger} where id = ${consumer.id}`;
      made = tryCreateKey(manager(), ownLocationId, consumer.name);
      await eventually("the key to wait for the consumer", async () => {
        const [waiting] = await tx`
          select 1 from pg_locks where not granted and locktype = 'transactionid'
          and transactionid = pg_current_xact_id()::xid`;
        return waiting !== undefined;
      });
    });
    expect(await made).toBe("scope_missing");
  });

  it("revokes keys of its own location only; those of others are not there", async () => {
    const own = await createKey(ownLocationId, consumer);
    const others = await createKey(otherLocationId, await createConsumerAt(otherLocationId));
    expect(await requestOutcome("DELETE", `/v1/auth/keys/${own}`, manager())).toBe("done");
    expect(await requestOutcome("DELETE", `/v1/auth/keys/${others}`, manager())).toBe("key_not_found");
    const anywhere = locationPrincipal(ownLocationId, "keys:write", "locations:any");
    expect(await requestOutcome("DELETE", `/v1/auth/keys/${others}`, anywhere)).toBe("done");
  });

  it("does not revoke the operator's key", async () => {
    const { keyId } = await accounts.getJson(
      `/internal/keys/${hashApiKey(testAdminKey)}`,
      ResolvedKey,
      gatewayTestPrincipal,
    );
    const path = `/v1/auth/keys/${keyId}`;
    expect(await requestOutcome("DELETE", path, manager())).toBe("key_not_found");
    expect(await requestOutcome("DELETE", path, locationPrincipal(ownLocationId, "keys:write", "locations:any"))).toBe(
      "scope_missing",
    );
    const { revokedAt } = await accounts.getJson(
      `/internal/keys/${hashApiKey(testAdminKey)}`,
      ResolvedKey,
      gatewayTestPrincipal,
    );
    expect(revokedAt).toBeNull();
  });

  it("does not revoke a key of its own location that is an admin's", async () => {
    const id = await createKey(ownLocationId, await createConsumer("admin"));
    expect(await requestOutcome("DELETE", `/v1/auth/keys/${id}`, manager())).toBe("scope_missing");
    expect(await requestOutcome("DELETE", `/v1/auth/keys/${id}`, operatorPrincipal)).toBe("done");
  });

  it("does nothing when it has neither a location nor locations:any", async () => {
    const adrift = { ...manager(), location: null };
    expect(await tryCreateKey(adrift, ownLocationId, consumer.name)).toBe("location_forbidden");
    expect(await requestOutcome("GET", "/v1/auth/keys/", adrift)).toBe("location_forbidden");
    expect(await requestOutcome("DELETE", `/v1/auth/keys/${await createKey(ownLocationId, consumer)}`, adrift)).toBe(
      "location_forbidden",
    );
  });
});

describe("a key that may manage consumers", () => {
  const manager = () => locationPrincipal(ownLocationId, "consumers:write", ...readScopes);

  it("grants scopes that it has", async () => {
    expect(await trySetScopes(manager(), consumer.id, ["consumers:write", "reports:read"])).toBe("done");
    expect(await findScopes(consumer.id)).toEqual(["consumers:write", "reports:read"]);
  });

  it.each(["keys:write", "tills:write", "locations:any", "admin"] as const)(
    "does not grant %s, which it lacks",
    async (scope) => {
      expect(await trySetScopes(manager(), consumer.id, [...readScopes, scope])).toBe("scope_missing");
      expect(await findScopes(consumer.id)).toEqual(readScopes);
    },
  );

  it("does not grant admin with every other scope", async () => {
    const everythingElse = scopeNames.filter((scope) => scope !== "admin");
    expect(await trySetScopes(locationPrincipal(ownLocationId, ...everythingElse), consumer.id, ["admin"])).toBe(
      "scope_missing",
    );
    expect(await trySetScopes(operatorPrincipal, consumer.id, ["admin"])).toBe("done");
  });

  it("neither weakens nor throttles a consumer that may do more than itself", async () => {
    const stronger = await createConsumer("tills:write");
    expect(await trySetScopes(manager(), stronger.id, [])).toBe("scope_missing");
    const path = `/v1/consumers/${stronger.id}`;
    expect(await requestOutcome("PATCH", path, manager(), { rateLimit: { perSecond: 1, burst: 1 } })).toBe(
      "scope_missing",
    );
    expect(await findScopes(stronger.id)).toEqual(stronger.scopes);
  });

  it("leaves the operator's own consumer alone", async () => {
    const { data } = await accounts.getJson("/v1/consumers/?size=100", paginatedSchema(ApiConsumer));
    const admin = data.find(({ name }) => name === "admin")?.id ?? "";
    expect(await trySetScopes(manager(), admin, ["reports:read"])).toBe("consumer_not_found");
    expect(await trySetScopes(locationPrincipal(ownLocationId, "consumers:write", "locations:any"), admin, [])).toBe(
      "scope_missing",
    );
  });

  it("leaves a consumer alone that another location has keys of, as earlier versions allowed", async () => {
    const others = await createKey(otherLocationId, await createConsumerAt(null));
    await accounts.db.sql`update api_keys set consumer_id = ${consumer.id} where id = ${others}`;
    expect(await trySetScopes(manager(), consumer.id, [])).toBe("consumer_not_found");
    expect(
      await tryCreateKey(locationPrincipal(ownLocationId, "keys:write", ...readScopes), ownLocationId, consumer.name),
    ).toBe("consumer_not_found");
    const anywhere = locationPrincipal(ownLocationId, "consumers:write", "locations:any", ...readScopes);
    expect(await trySetScopes(anywhere, consumer.id, ["reports:read", "orders:read"])).toBe("done");
  });

  it("sees and changes those that its location created only, even if the location has keys of others", async () => {
    const theirs = await createConsumerAt(otherLocationId);
    const operators = await createConsumerAt(null);
    await createKey(ownLocationId, operators);
    const listed = async (principal: Principal) => {
      const { data, meta } = await accounts.getJson("/v1/consumers/?size=100", paginatedSchema(ApiConsumer), principal);
      expect(meta.totalCount).toBe(data.length);
      return data;
    };
    const all = (await listed(operatorPrincipal)).map(({ name }) => name);
    expect(all).toEqual(expect.arrayContaining(["admin", theirs.name, operators.name, consumer.name]));
    const seen = await listed(manager());
    expect(seen).toContainEqual(expect.objectContaining({ id: consumer.id, name: consumer.name }));
    expect(new Set(seen.map(({ locationId }) => locationId))).toEqual(new Set([ownLocationId]));

    const none = "11111111-1111-4111-8111-111111111111";
    for (const id of [theirs.id, operators.id, none]) {
      const request = { method: "PATCH", path: `/v1/consumers/${id}`, body: { rateLimit: null }, principal: manager() };
      const { code, detail } = await accounts.requestProblem(request);
      expect({ code, detail }).toEqual({ code: "consumer_not_found", detail: `There is no consumer ${id}.` });
    }
    const adrift = { ...manager(), location: null };
    expect(await requestOutcome("GET", "/v1/consumers/", adrift)).toBe("location_forbidden");
    expect(await requestOutcome("POST", "/v1/consumers/", adrift, { name: "Adrift" })).toBe("location_forbidden");
    expect(await requestOutcome("PATCH", `/v1/consumers/${consumer.id}`, adrift, {})).toBe("location_forbidden");
  });

  it("takes names that another location's or the operators' consumers have", async () => {
    const create = (principal: Principal, name: string) =>
      requestOutcome("POST", "/v1/consumers/", principal, { name });
    expect(await create(operatorPrincipal, "Popular")).toBe("done");
    expect(await create(manager(), "Popular")).toBe("done");
    expect(await create(locationPrincipal(otherLocationId, "consumers:write"), "Popular")).toBe("done");
    expect(await create(manager(), "Popular")).toBe("consumer_exists");
    expect(await create(locationPrincipal(ownLocationId, "consumers:write", "locations:any"), "Popular")).toBe(
      "consumer_exists",
    );
    expect(await create(manager(), "admin")).toBe("done");
    const { data } = await accounts.getJson("/v1/consumers/?size=100", paginatedSchema(ApiConsumer));
    const popular = data.filter(({ name }) => name === "Popular").map(({ locationId }) => locationId);
    expect(popular).toEqual([otherLocationId, ownLocationId, null]);

    const keyFor = async (principal: Principal) => {
      const request = { method: "POST", path: "/v1/auth/keys/", principal };
      const body = { locationId: ownLocationId, consumerName: "Popular" };
      const { apiKey } = await accounts.sendJson({ ...request, body }, { status: 201, schema: CreatedApiKey });
      return (await accounts.getJson(`/internal/keys/${hashApiKey(apiKey)}`, ResolvedKey, gatewayTestPrincipal))
        .consumer;
    };
    expect(await keyFor(operatorPrincipal)).toBe("Popular");
    // Kept replies and jobs go by this name, so it differs from that of the operators' consumer.
    expect(await keyFor(locationPrincipal(ownLocationId, "keys:write", ...readScopes))).toBe(
      `${ownLocationId}:Popular`,
    );
  });

  it("refuses the name of a consumer that its location created before names were kept by location", async () => {
    const id = randomUUID();
    await accounts.db.sql`
      insert into consumers (id, name, scopes, location_id) values (${id}, 'From before', ${["reports:read"]}, ${ownLocationId})`;
    expect(await requestOutcome("POST", "/v1/consumers/", manager(), { name: "From before" })).toBe("consumer_exists");
    expect(
      await requestOutcome("POST", "/v1/consumers/", locationPrincipal(otherLocationId, "consumers:write"), {
        name: "From before",
      }),
    ).toBe("done");
    expect(await trySetScopes(manager(), id, [])).toBe("done");
    expect(await tryCreateKey(locationPrincipal(ownLocationId, "keys:write"), ownLocationId, "From before")).toBe(
      "done",
    );
  });

  it("creates consumers with no more than its own scopes and rate limit", async () => {
    const principal = {
      ...locationPrincipal(ownLocationId, "consumers:write", "reports:read"),
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
      refused: [{ perSecond: 11, burst: 1 }, { perSecond: 1, burst: 21 }, null],
    },
    {
      own: null,
      allowed: [null, { perSecond: 100, burst: 2_000 }],
      refused: [
        { perSecond: 101, burst: 1 },
        { perSecond: 1, burst: 2_001 },
      ],
    },
    {
      own: { perSecond: 500, burst: 5_000 },
      allowed: [{ perSecond: 500, burst: 5_000 }, null],
      refused: [{ perSecond: 501, burst: 1 }],
    },
  ])(
    "with the rate limit $own gives no higher one, not to its own consumer either",
    async ({ own, allowed, refused }) => {
      const keyId = await createKeyWithRateLimit(own);
      const principal = { ...manager(), keyId };
      const [{ id = "" } = {}] = await accounts.db.sql<{ id: string }[]>`
      select consumer_id as id from api_keys where id = ${keyId}`;
      const other = await createConsumer();
      await requestOutcome("PATCH", `/v1/consumers/${other.id}`, operatorPrincipal, {
        rateLimit: { perSecond: 1, burst: 1 },
      });
      const limit = (of: string, rateLimit: unknown) =>
        requestOutcome("PATCH", `/v1/consumers/${of}`, principal, { rateLimit });
      for (const rateLimit of refused) {
        expect(await limit(other.id, rateLimit)).toBe("rate_limit_forbidden");
        expect(await limit(id, rateLimit)).toBe("rate_limit_forbidden");
      }
      for (const rateLimit of allowed) expect(await limit(other.id, rateLimit)).toBe("done");
      // Lower from now on, the limit of one's own consumer cannot be raised again.
      expect(await limit(id, { perSecond: 2, burst: 2 })).toBe("done");
      expect(await limit(id, own)).toBe("rate_limit_forbidden");
      expect(await limit(id, { perSecond: 3, burst: 2 })).toBe("rate_limit_forbidden");
    },
  );

  it("throttles no consumer whose rate limit is higher than its own", async () => {
    await requestOutcome("PATCH", `/v1/consumers/${consumer.id}`, operatorPrincipal, {
      rateLimit: { perSecond: 500, burst: 500 },
    });
    const path = `/v1/consumers/${consumer.id}`;
    expect(await requestOutcome("PATCH", path, manager(), { rateLimit: { perSecond: 1, burst: 1 } })).toBe(
      "rate_limit_forbidden",
    );
    expect(await trySetScopes(manager(), consumer.id, [])).toBe("rate_limit_forbidden");
  });

  it("does not change its own consumer when that is the operators'", async () => {
    const own = await createConsumerAt(null, "consumers:write");
    const principal = { ...manager(), keyId: await createKey(ownLocationId, own), consumer: own.name };
    const path = `/v1/consumers/${own.id}`;
    expect(await requestOutcome("PATCH", path, principal, { rateLimit: { perSecond: 1, burst: 1 } })).toBe(
      "consumer_not_found",
    );
    expect(await trySetScopes(principal, own.id, readScopes)).toBe("consumer_not_found");
  });

  /** The id of a key whose consumer this location created and has this rate limit. */
  async function createKeyWithRateLimit(rateLimit: RateLimit | null): Promise<string> {
    const own = await createConsumer();
    await requestOutcome("PATCH", `/v1/consumers/${own.id}`, operatorPrincipal, { rateLimit });
    return createKey(ownLocationId, own);
  }

  it("cannot have the scope of the product's own parts granted", async () => {
    expect(await trySetScopes(operatorPrincipal, consumer.id, ["internal" as Scope])).toBe("invalid_request");
  });
});
