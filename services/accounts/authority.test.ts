import { randomUUID } from "node:crypto";
import { ApiKey, Consumer, CreatedApiKey, type RateLimit } from "@pragma/contracts/consumer";
import { pageOf } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { KeyFacts } from "@pragma/contracts/principal";
import { type Scope, scopeNames } from "@pragma/contracts/scopes";
import { hashKey } from "@pragma/runtime/api-key";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { importLocation, legacy } from "./testing/locations.ts";
import { adminKey, insider, keyOf, operator, startAccounts, type TestAccounts } from "./testing/start-accounts.ts";

let accounts: TestAccounts;
let here: string;
let elsewhere: string;
beforeAll(async () => {
  accounts = await startAccounts();
  here = await importLocation(accounts, legacy());
  elsewhere = await importLocation(accounts, legacy());
});
afterAll(() => accounts.remove());

let consumers = 0;
let consumer: Consumer;
beforeEach(async () => {
  consumer = await createConsumer();
});

/** A consumer that a key of this location created and the operator gave more scopes; without a location, the operators' own. */
async function createConsumerAt(locationId: string | null, ...scopes: Scope[]): Promise<Consumer> {
  const principal = locationId === null ? operator : keyOf(locationId, "consumers:write", ...reading);
  const create = { method: "POST", path: "/v1/consumers/", body: { name: `Consumer ${++consumers}` }, principal };
  const made = await accounts.send(create, { status: 201, schema: Consumer });
  const change = { method: "PATCH", path: `/v1/consumers/${made.id}`, body: { scopes: [...made.scopes, ...scopes] } };
  return accounts.send(change, { status: 200, schema: Consumer });
}

const createConsumer = (...scopes: Scope[]) => createConsumerAt(here, ...scopes);

/** Makes a key as the operator and gives its id. */
async function createKey(locationId: string, { name }: Consumer): Promise<string> {
  const request = { method: "POST", path: "/v1/auth/keys/", body: { locationId, consumerName: name } };
  const { apiKey } = await accounts.send(request, { status: 201, schema: CreatedApiKey });
  return (await accounts.get(`/internal/keys/${hashKey(apiKey)}`, KeyFacts, insider)).keyId;
}

async function outcome(method: string, path: string, principal: Principal, body?: unknown): Promise<string> {
  const reply = await accounts.ask(method, path, { principal, ...(body !== undefined && { body }) });
  return reply.ok ? "done" : ((await reply.json()) as { code: string }).code;
}

const reading: Scope[] = ["reports:read", "orders:read", "catalog:read", "locations:read"];
const makeKey = (principal: Principal, locationId: string, consumerName: string) =>
  outcome("POST", "/v1/auth/keys/", principal, { locationId, consumerName });
const setScopes = (principal: Principal, id: string, scopes: Scope[]) =>
  outcome("PATCH", `/v1/consumers/${id}`, principal, { scopes });
const scopesOf = async (id: string) => {
  const { data } = await accounts.get("/v1/consumers/?size=100", pageOf(Consumer));
  return data.find((each) => each.id === id)?.scopes;
};

describe("a key that may manage keys", () => {
  const manager = () => keyOf(here, "keys:write", ...reading);

  it("makes keys for its own location and consumers that may do no more than itself", async () => {
    expect(await makeKey(manager(), here, consumer.name)).toBe("done");
  });

  it("makes none for another location, whether or not there is one", async () => {
    expect(await makeKey(manager(), elsewhere, consumer.name)).toBe("location_forbidden");
    expect(await makeKey(manager(), "11111111-1111-4111-8111-111111111111", consumer.name)).toBe("location_forbidden");
  });

  it.each(["tills:write", "consumers:write", "locations:any", "admin"] as const)(
    "makes none for a consumer that has %s, which it lacks",
    async (scope) => {
      const stronger = await createConsumer(scope);
      expect(await makeKey(manager(), here, stronger.name)).toBe("scope_missing");
      expect((await accounts.get("/v1/auth/keys/?size=100", pageOf(ApiKey))).data).not.toContainEqual(
        expect.objectContaining({ consumerName: stronger.name }),
      );
    },
  );

  it("makes none for the operator's own consumer", async () => {
    expect(await makeKey(manager(), here, "admin")).toBe("consumer_not_found");
    const everythingElse = scopeNames.filter((scope) => scope !== "admin");
    expect(await makeKey(keyOf(here, ...everythingElse), here, "admin")).toBe("scope_missing");
  });

  it("makes none for a consumer that its location did not create, as if there were none", async () => {
    const refusalOf = async (consumerName: string) => {
      const request = { method: "POST", path: "/v1/auth/keys/", principal: manager() };
      const { requestId, detail, ...problem } = await accounts.refusal({
        ...request,
        body: { locationId: here, consumerName },
      });
      return { ...problem, detail: detail.replace(consumerName, "X") };
    };
    const none = await refusalOf("There is none");
    expect(none.code).toBe("consumer_not_found");
    expect(await refusalOf((await createConsumerAt(elsewhere)).name)).toEqual(none);
    expect(await refusalOf((await createConsumerAt(null)).name)).toEqual(none);
  });

  it("makes none for a consumer with a higher rate limit than its own", async () => {
    const path = `/v1/consumers/${consumer.id}`;
    expect(await outcome("PATCH", path, operator, { rateLimit: { perSecond: 101, burst: 1 } })).toBe("done");
    expect(await makeKey(manager(), here, consumer.name)).toBe("rate_limit_forbidden");
    expect(await makeKey(operator, here, consumer.name)).toBe("done");
  });

  it("makes them for any location with locations:any, still for no stronger consumer", async () => {
    const anywhere = keyOf(here, "keys:write", "locations:any", ...reading);
    expect(await makeKey(anywhere, elsewhere, (await createConsumerAt(null)).name)).toBe("done");
    expect(await makeKey(anywhere, here, consumer.name)).toBe("done");
    expect(await makeKey(anywhere, elsewhere, consumer.name)).toBe("consumer_not_found");
    const stronger = await createConsumerAt(null, "tills:read");
    expect(await makeKey(anywhere, elsewhere, stronger.name)).toBe("scope_missing");
  });

  it("makes none for a consumer that is being made stronger at the moment", async () => {
    const stronger = ["reports:read", "tills:write"];
    let made: Promise<string> | undefined;
    await accounts.db.transaction(async (tx) => {
      await tx`update consumers set scopes = ${stronger} where id = ${consumer.id}`;
      made = makeKey(manager(), here, consumer.name);
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
    const own = await createKey(here, consumer);
    const others = await createKey(elsewhere, await createConsumerAt(elsewhere));
    expect(await outcome("DELETE", `/v1/auth/keys/${own}`, manager())).toBe("done");
    expect(await outcome("DELETE", `/v1/auth/keys/${others}`, manager())).toBe("key_not_found");
    const anywhere = keyOf(here, "keys:write", "locations:any");
    expect(await outcome("DELETE", `/v1/auth/keys/${others}`, anywhere)).toBe("done");
  });

  it("does not revoke the operator's key", async () => {
    const { keyId } = await accounts.get(`/internal/keys/${hashKey(adminKey)}`, KeyFacts, insider);
    const path = `/v1/auth/keys/${keyId}`;
    expect(await outcome("DELETE", path, manager())).toBe("key_not_found");
    expect(await outcome("DELETE", path, keyOf(here, "keys:write", "locations:any"))).toBe("scope_missing");
    const { revokedAt } = await accounts.get(`/internal/keys/${hashKey(adminKey)}`, KeyFacts, insider);
    expect(revokedAt).toBeNull();
  });

  it("does not revoke a key of its own location that is an admin's", async () => {
    const id = await createKey(here, await createConsumer("admin"));
    expect(await outcome("DELETE", `/v1/auth/keys/${id}`, manager())).toBe("scope_missing");
    expect(await outcome("DELETE", `/v1/auth/keys/${id}`, operator)).toBe("done");
  });

  it("does nothing when it has neither a location nor locations:any", async () => {
    const adrift = { ...manager(), location: null };
    expect(await makeKey(adrift, here, consumer.name)).toBe("location_forbidden");
    expect(await outcome("GET", "/v1/auth/keys/", adrift)).toBe("location_forbidden");
    expect(await outcome("DELETE", `/v1/auth/keys/${await createKey(here, consumer)}`, adrift)).toBe(
      "location_forbidden",
    );
  });
});

describe("a key that may manage consumers", () => {
  const manager = () => keyOf(here, "consumers:write", ...reading);

  it("grants scopes that it has", async () => {
    expect(await setScopes(manager(), consumer.id, ["consumers:write", "reports:read"])).toBe("done");
    expect(await scopesOf(consumer.id)).toEqual(["consumers:write", "reports:read"]);
  });

  it.each(["keys:write", "tills:write", "locations:any", "admin"] as const)(
    "does not grant %s, which it lacks",
    async (scope) => {
      expect(await setScopes(manager(), consumer.id, [...reading, scope])).toBe("scope_missing");
      expect(await scopesOf(consumer.id)).toEqual(reading);
    },
  );

  it("does not grant admin with every other scope", async () => {
    const everythingElse = scopeNames.filter((scope) => scope !== "admin");
    expect(await setScopes(keyOf(here, ...everythingElse), consumer.id, ["admin"])).toBe("scope_missing");
    expect(await setScopes(operator, consumer.id, ["admin"])).toBe("done");
  });

  it("neither weakens nor throttles a consumer that may do more than itself", async () => {
    const stronger = await createConsumer("tills:write");
    expect(await setScopes(manager(), stronger.id, [])).toBe("scope_missing");
    const path = `/v1/consumers/${stronger.id}`;
    expect(await outcome("PATCH", path, manager(), { rateLimit: { perSecond: 1, burst: 1 } })).toBe("scope_missing");
    expect(await scopesOf(stronger.id)).toEqual(stronger.scopes);
  });

  it("leaves the operator's own consumer alone", async () => {
    const { data } = await accounts.get("/v1/consumers/?size=100", pageOf(Consumer));
    const admin = data.find(({ name }) => name === "admin")?.id ?? "";
    expect(await setScopes(manager(), admin, ["reports:read"])).toBe("consumer_not_found");
    expect(await setScopes(keyOf(here, "consumers:write", "locations:any"), admin, [])).toBe("scope_missing");
  });

  it("leaves a consumer alone that another location has keys of, as earlier versions allowed", async () => {
    const others = await createKey(elsewhere, await createConsumerAt(null));
    await accounts.db.sql`update api_keys set consumer_id = ${consumer.id} where id = ${others}`;
    expect(await setScopes(manager(), consumer.id, [])).toBe("consumer_not_found");
    expect(await makeKey(keyOf(here, "keys:write", ...reading), here, consumer.name)).toBe("consumer_not_found");
    const anywhere = keyOf(here, "consumers:write", "locations:any", ...reading);
    expect(await setScopes(anywhere, consumer.id, ["reports:read", "orders:read"])).toBe("done");
  });

  it("sees and changes those that its location created only, even if the location has keys of others", async () => {
    const theirs = await createConsumerAt(elsewhere);
    const operators = await createConsumerAt(null);
    await createKey(here, operators);
    const listed = async (principal: Principal) => {
      const { data, meta } = await accounts.get("/v1/consumers/?size=100", pageOf(Consumer), principal);
      expect(meta.totalCount).toBe(data.length);
      return data;
    };
    const all = (await listed(operator)).map(({ name }) => name);
    expect(all).toEqual(expect.arrayContaining(["admin", theirs.name, operators.name, consumer.name]));
    const seen = await listed(manager());
    expect(seen).toContainEqual(expect.objectContaining({ id: consumer.id, name: consumer.name }));
    expect(new Set(seen.map(({ locationId }) => locationId))).toEqual(new Set([here]));

    const none = "11111111-1111-4111-8111-111111111111";
    for (const id of [theirs.id, operators.id, none]) {
      const request = { method: "PATCH", path: `/v1/consumers/${id}`, body: { rateLimit: null }, principal: manager() };
      const { code, detail } = await accounts.refusal(request);
      expect({ code, detail }).toEqual({ code: "consumer_not_found", detail: `There is no consumer ${id}.` });
    }
    const adrift = { ...manager(), location: null };
    expect(await outcome("GET", "/v1/consumers/", adrift)).toBe("location_forbidden");
    expect(await outcome("POST", "/v1/consumers/", adrift, { name: "Adrift" })).toBe("location_forbidden");
    expect(await outcome("PATCH", `/v1/consumers/${consumer.id}`, adrift, {})).toBe("location_forbidden");
  });

  it("takes names that another location's or the operators' consumers have", async () => {
    const create = (principal: Principal, name: string) => outcome("POST", "/v1/consumers/", principal, { name });
    expect(await create(operator, "Popular")).toBe("done");
    expect(await create(manager(), "Popular")).toBe("done");
    expect(await create(keyOf(elsewhere, "consumers:write"), "Popular")).toBe("done");
    expect(await create(manager(), "Popular")).toBe("consumer_exists");
    expect(await create(keyOf(here, "consumers:write", "locations:any"), "Popular")).toBe("consumer_exists");
    expect(await create(manager(), "admin")).toBe("done");
    const { data } = await accounts.get("/v1/consumers/?size=100", pageOf(Consumer));
    const popular = data.filter(({ name }) => name === "Popular").map(({ locationId }) => locationId);
    expect(popular).toEqual([elsewhere, here, null]);

    const keyFor = async (principal: Principal) => {
      const request = { method: "POST", path: "/v1/auth/keys/", principal };
      const body = { locationId: here, consumerName: "Popular" };
      const { apiKey } = await accounts.send({ ...request, body }, { status: 201, schema: CreatedApiKey });
      return (await accounts.get(`/internal/keys/${hashKey(apiKey)}`, KeyFacts, insider)).consumer;
    };
    expect(await keyFor(operator)).toBe("Popular");
    // Kept replies and jobs go by this name, so it differs from that of the operators' consumer.
    expect(await keyFor(keyOf(here, "keys:write", ...reading))).toBe(`${here}:Popular`);
  });

  it("refuses the name of a consumer that its location created before names were kept by location", async () => {
    const id = randomUUID();
    await accounts.db.sql`
      insert into consumers (id, name, scopes, location_id) values (${id}, 'From before', ${["reports:read"]}, ${here})`;
    expect(await outcome("POST", "/v1/consumers/", manager(), { name: "From before" })).toBe("consumer_exists");
    expect(await outcome("POST", "/v1/consumers/", keyOf(elsewhere, "consumers:write"), { name: "From before" })).toBe(
      "done",
    );
    expect(await setScopes(manager(), id, [])).toBe("done");
    expect(await makeKey(keyOf(here, "keys:write"), here, "From before")).toBe("done");
  });

  it("creates consumers with no more than its own scopes and rate limit", async () => {
    const principal = {
      ...keyOf(here, "consumers:write", "reports:read"),
      keyId: await ownKey({ perSecond: 5, burst: 9 }),
    };
    const request = { method: "POST", path: "/v1/consumers/", principal, body: { name: `Consumer ${++consumers}` } };
    const { scopes, rateLimit } = await accounts.send(request, { status: 201, schema: Consumer });
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
      const keyId = await ownKey(own);
      const principal = { ...manager(), keyId };
      const [{ id = "" } = {}] = await accounts.db.sql<{ id: string }[]>`
      select consumer_id as id from api_keys where id = ${keyId}`;
      const other = await createConsumer();
      await outcome("PATCH", `/v1/consumers/${other.id}`, operator, { rateLimit: { perSecond: 1, burst: 1 } });
      const limit = (of: string, rateLimit: unknown) =>
        outcome("PATCH", `/v1/consumers/${of}`, principal, { rateLimit });
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
    await outcome("PATCH", `/v1/consumers/${consumer.id}`, operator, { rateLimit: { perSecond: 500, burst: 500 } });
    const path = `/v1/consumers/${consumer.id}`;
    expect(await outcome("PATCH", path, manager(), { rateLimit: { perSecond: 1, burst: 1 } })).toBe(
      "rate_limit_forbidden",
    );
    expect(await setScopes(manager(), consumer.id, [])).toBe("rate_limit_forbidden");
  });

  it("does not change its own consumer when that is the operators'", async () => {
    const own = await createConsumerAt(null, "consumers:write");
    const principal = { ...manager(), keyId: await createKey(here, own), consumer: own.name };
    const path = `/v1/consumers/${own.id}`;
    expect(await outcome("PATCH", path, principal, { rateLimit: { perSecond: 1, burst: 1 } })).toBe(
      "consumer_not_found",
    );
    expect(await setScopes(principal, own.id, reading)).toBe("consumer_not_found");
  });

  /** The id of a key whose consumer this location created and has this rate limit. */
  async function ownKey(rateLimit: RateLimit | null): Promise<string> {
    const own = await createConsumer();
    await outcome("PATCH", `/v1/consumers/${own.id}`, operator, { rateLimit });
    return createKey(here, own);
  }

  it("cannot have the scope of the product's own parts granted", async () => {
    expect(await setScopes(operator, consumer.id, ["internal" as Scope])).toBe("invalid_request");
  });
});
