import { ApiError } from "@pragma/contracts/errors";
import { createApiKey, hashKey } from "@pragma/runtime/api-key";
import { beforeEach, describe, expect, it } from "vitest";
import { type Authenticate, createAuthenticate } from "./authenticate.ts";
import { createKeyCache, type KnownKey } from "./key-cache.ts";

const good = createApiKey().key;
const revoked = createApiKey().key;
const operators = "an operator's own key";

let time = 0;
let lookups: string[];
let lookUp: (hash: string) => Promise<KnownKey | null>;
let authenticate: Authenticate;

beforeEach(() => {
  time = 0;
  lookups = [];
  const key: KnownKey = {
    principal: { keyId: "9e1f5c52-1d2b-4d53-9a40-1c1f4a1d2b3c", consumer: "Acme", scopes: [], location: null },
    rateLimit: null,
    isRevoked: false,
  };
  const keys = new Map([
    [hashKey(good), key],
    [hashKey(revoked), { ...key, isRevoked: true }],
    [hashKey(operators), key],
  ]);
  lookUp = async (hash) => keys.get(hash) ?? null;
  authenticate = createAuthenticate(
    createKeyCache(
      (hash) => {
        lookups.push(hash);
        return lookUp(hash);
      },
      { now: () => time },
    ),
    { failures: { perSecond: 1, burst: 5 }, lookups: { perSecond: 1, burst: 10 }, now: () => time },
  );
});

const ask = async (authorization: string | undefined, address = "192.0.2.1") =>
  authenticate(authorization, () => address);

async function refusal(authorization: string | undefined, address?: string): Promise<ApiError> {
  const error = await ask(authorization, address).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  return error;
}

describe("an API key", () => {
  it.each([good, `Bearer ${good}`, `bearer ${good}`, `BEARER  ${good} `])("is read from %j", async (header) => {
    expect((await ask(header)).principal.consumer).toBe("Acme");
    expect(lookups).toEqual([hashKey(good)]);
  });

  it("may be one that the operator made up", async () => {
    expect((await ask(`Bearer ${operators}`)).principal.consumer).toBe("Acme");
  });

  it.each([undefined, "", "Bearer", "Bearer "])("is missed in %j", async (header) => {
    const { code, headers } = await refusal(header);
    expect([code, headers["www-authenticate"]]).toEqual(["key_missing", "Bearer"]);
  });

  it("is refused without being looked up when it cannot be one", async () => {
    const mistyped = good.slice(0, -1) + (good.endsWith("x") ? "y" : "x");
    for (const header of [mistyped, "pragma_", "too short", `Bearer ${"x".repeat(513)}`, `Bearer ${"é".repeat(20)}`]) {
      expect((await refusal(header, header)).code).toBe("key_invalid");
    }
    expect(lookups).toEqual([]);
  });

  it("is refused when nobody knows it", async () => {
    const { code, headers } = await refusal(`Bearer ${createApiKey().key}`);
    expect([code, headers["www-authenticate"]]).toEqual(["key_invalid", "Bearer"]);
  });

  it("is refused when it was revoked", async () => {
    const { code, headers } = await refusal(`Bearer ${revoked}`);
    expect([code, headers["www-authenticate"]]).toEqual(["key_revoked", "Bearer"]);
  });

  it("answers 503 when it is not known here and accounts is away", async () => {
    lookUp = async () => {
      throw new ApiError("service_unavailable", { headers: { "retry-after": "2" } });
    };
    const { code, headers } = await refusal(`Bearer ${good}`);
    expect([code, headers["retry-after"]]).toEqual(["service_unavailable", "2"]);
  });
});

describe("wrong keys", () => {
  it("are limited by address", async () => {
    for (let guess = 0; guess < 5; guess++) expect((await refusal(createApiKey().key)).code).toBe("key_invalid");
    const { code, headers } = await refusal(createApiKey().key);
    expect([code, headers["retry-after"]]).toEqual(["rate_limited", "1"]);
    expect((await refusal(createApiKey().key, "192.0.2.2")).code).toBe("key_invalid");
    time += 1_000;
    expect((await refusal(createApiKey().key)).code).toBe("key_invalid");
  });

  it("are looked up so often and no more, also while look-ups are under way", async () => {
    lookUp = async () => new Promise(() => {});
    const outcomes = Array.from({ length: 20 }, () => ask(createApiKey().key));
    const settled = await Promise.race([
      Promise.allSettled(outcomes.slice(10)),
      new Promise((r) => setTimeout(r, 1000)),
    ]);
    expect(settled).toHaveLength(10);
    expect(lookups).toHaveLength(10);
  });

  it("are limited when they cannot be keys, and when they were revoked", async () => {
    for (let guess = 0; guess < 5; guess++) await refusal(guess % 2 ? revoked : `pragma_guess${guess}`);
    expect((await refusal("pragma_guess")).code).toBe("rate_limited");
    expect((await refusal(revoked)).code).toBe("rate_limited");
  });

  it("do not keep a good key of the same address out, known or not", async () => {
    for (let guess = 0; guess < 80; guess++) await refusal(`an invented key ${guess}`);
    for (let guess = 0; guess < 80; guess++) await refusal("pragma_guess");
    expect((await ask(good)).principal.consumer).toBe("Acme");
    expect((await ask(good)).principal.consumer).toBe("Acme");
  });

  it("are not what a client sends that brings many good keys", async () => {
    const key = await ask(good);
    lookUp = async () => key;
    for (let made = 0; made < 50; made++) await ask(createApiKey().key);
  });

  it("from one IPv6 network count as from one address", async () => {
    for (let guess = 0; guess < 5; guess++) await refusal("pragma_guess", `2001:db8:1:2::${guess}`);
    expect((await refusal("pragma_guess", "2001:db8:1:2:ffff::1")).code).toBe("rate_limited");
    expect((await refusal("pragma_guess", "2001:db8:1:3::1")).code).toBe("key_invalid");
  });
});
