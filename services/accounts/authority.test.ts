import { KeyFacts } from "@pragma/contracts/account-lookups";
import { ApiKey, CreatedApiKey } from "@pragma/contracts/api-key";
import { Consumer } from "@pragma/contracts/consumer";
import { pageOf } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
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

async function createConsumer(...scopes: Scope[]): Promise<Consumer> {
  const create = { method: "POST", path: "/v1/consumers/", body: { name: `Consumer ${++consumers}` } };
  const made = await accounts.send(create, { status: 201, schema: Consumer });
  const change = { method: "PATCH", path: `/v1/consumers/${made.id}`, body: { scopes: [...made.scopes, ...scopes] } };
  return accounts.send(change, { status: 200, schema: Consumer });
}

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
    expect(await makeKey(manager(), here, "admin")).toBe("scope_missing");
    const everythingElse = scopeNames.filter((scope) => scope !== "admin");
    expect(await makeKey(keyOf(here, ...everythingElse), here, "admin")).toBe("scope_missing");
  });

  it("makes them for any location with locations:any, still for no stronger consumer", async () => {
    const anywhere = keyOf(here, "keys:write", "locations:any", ...reading);
    expect(await makeKey(anywhere, elsewhere, consumer.name)).toBe("done");
    expect(await makeKey(anywhere, elsewhere, (await createConsumer("tills:read")).name)).toBe("scope_missing");
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
    const others = await createKey(elsewhere, consumer);
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
    expect(await setScopes(manager(), admin, ["reports:read"])).toBe("scope_missing");
  });

  it("leaves a consumer alone that other locations use, unless it has locations:any", async () => {
    await createKey(here, consumer);
    expect(await setScopes(manager(), consumer.id, ["reports:read"])).toBe("done");
    const others = await createKey(elsewhere, consumer);
    expect(await setScopes(manager(), consumer.id, [])).toBe("location_forbidden");
    const anywhere = keyOf(here, "consumers:write", "locations:any", ...reading);
    expect(await setScopes(anywhere, consumer.id, ["reports:read", "orders:read"])).toBe("done");
    await outcome("DELETE", `/v1/auth/keys/${others}`, operator);
    expect(await setScopes(manager(), consumer.id, ["reports:read"])).toBe("done");
  });

  it("sees those that its location made or has keys of, and changes none that another made", async () => {
    const make = (principal: Principal, name: string) => outcome("POST", "/v1/consumers/", principal, { name });
    expect(await make(manager(), "Made here")).toBe("done");
    expect(await make(keyOf(elsewhere, "consumers:write"), "Made elsewhere")).toBe("done");
    await createKey(here, consumer);
    const listed = async (principal: Principal) => {
      const { data, meta } = await accounts.get("/v1/consumers/?size=100", pageOf(Consumer), principal);
      expect(meta.totalCount).toBe(data.length);
      return data.map(({ name }) => name);
    };
    const all = await listed(operator);
    expect(all).toEqual(expect.arrayContaining(["admin", "Made here", "Made elsewhere", consumer.name]));
    const seen = await listed(manager());
    expect(seen).toEqual(expect.arrayContaining(["Made here", consumer.name]));
    for (const name of ["admin", "Made elsewhere"]) expect(seen).not.toContain(name);

    const { data } = await accounts.get("/v1/consumers/?size=100", pageOf(Consumer));
    const others = data.find(({ name }) => name === "Made elsewhere")?.id ?? "";
    expect(await setScopes(manager(), others, [])).toBe("consumer_not_found");
    expect(await outcome("GET", "/v1/consumers/", { ...manager(), location: null })).toBe("location_forbidden");
  });

  it("cannot have the scope of the product's own parts granted", async () => {
    expect(await setScopes(operator, consumer.id, ["internal" as Scope])).toBe("invalid_request");
  });
});
