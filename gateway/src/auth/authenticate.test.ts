import { ApiError } from "@pragma/contracts/errors";
import { generateApiKey, hashApiKey } from "@pragma/runtime/security/api-key";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CachedApiKey } from "../server/gateway-request.ts";
import { createApiKeyCache } from "./api-key-cache.ts";
import { type ApiKeyAuthenticator, createApiKeyAuthenticator } from "./authenticate.ts";

const validKey = generateApiKey().key;
const revokedKey = generateApiKey().key;
const expiringKey = generateApiKey().key;
const operatorKey = "an operator's own key";

let nowMs = 0;
let lookups: string[];
let lookUp: (hash: string) => Promise<CachedApiKey | null>;
let authenticate: ApiKeyAuthenticator;

afterEach(() => vi.restoreAllMocks());
beforeEach(() => {
  nowMs = 0;
  vi.spyOn(Date, "now").mockImplementation(() => nowMs);
  lookups = [];
  const key: CachedApiKey = {
    principal: { keyId: "9e1f5c52-1d2b-4d53-9a40-1c1f4a1d2b3c", consumer: "Acme", scopes: [], location: null },
    rateLimit: null,
    isRevoked: false,
    expiresAt: null,
  };
  const keys = new Map([
    [hashApiKey(validKey), key],
    [hashApiKey(revokedKey), { ...key, isRevoked: true }],
    [hashApiKey(expiringKey), { ...key, expiresAt: 10_000 }],
    [hashApiKey(operatorKey), key],
  ]);
  lookUp = async (hash) => keys.get(hash) ?? null;
  authenticate = createApiKeyAuthenticator(
    createApiKeyCache((hash) => {
      lookups.push(hash);
      return lookUp(hash);
    }),
    { failures: { perSecond: 1, burst: 5 }, lookups: { perSecond: 1, burst: 10 } },
  );
});

const authenticateFrom = async (authorization: string | undefined, address = "192.0.2.1") =>
  authenticate(authorization, () => address);

async function authenticationError(authorization: string | undefined, address?: string): Promise<ApiError> {
  const error = await authenticateFrom(authorization, address).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  return error;
}

describe("an API key", () => {
  it.each([validKey, `Bearer ${validKey}`, `bearer ${validKey}`, `BEARER  ${validKey} `])(
    "is read from %j",
    async (header) => {
      expect((await authenticateFrom(header)).principal.consumer).toBe("Acme");
      expect(lookups).toEqual([hashApiKey(validKey)]);
    },
  );

  it("may be a key that the operator chose", async () => {
    expect((await authenticateFrom(`Bearer ${operatorKey}`)).principal.consumer).toBe("Acme");
  });

  it.each([undefined, "", "Bearer", "Bearer "])("is missing in %j", async (header) => {
    const { code, headers } = await authenticationError(header);
    expect([code, headers["www-authenticate"]]).toEqual(["key_missing", "Bearer"]);
  });

  it("is rejected without a lookup when it is malformed", async () => {
    const mistyped = validKey.slice(0, -1) + (validKey.endsWith("x") ? "y" : "x");
    for (const header of [mistyped, "pragma_", "too short", `Bearer ${"x".repeat(513)}`, `Bearer ${"é".repeat(20)}`]) {
      expect((await authenticationError(header, header)).code).toBe("key_invalid");
    }
    expect(lookups).toEqual([]);
  });

  it("is rejected when it does not exist", async () => {
    const { code, headers } = await authenticationError(`Bearer ${generateApiKey().key}`);
    expect([code, headers["www-authenticate"]]).toEqual(["key_invalid", "Bearer"]);
  });

  it("is rejected when it was revoked", async () => {
    const { code, headers } = await authenticationError(`Bearer ${revokedKey}`);
    expect([code, headers["www-authenticate"]]).toEqual(["key_revoked", "Bearer"]);
  });

  it("is rejected from the moment of its expiry, also while it is cached or accounts is unreachable", async () => {
    await authenticateFrom(expiringKey);
    lookUp = async () => {
      throw new ApiError("service_unavailable");
    };
    nowMs = 9_999;
    expect((await authenticateFrom(expiringKey)).principal.consumer).toBe("Acme");
    nowMs = 10_000;
    const { code, headers } = await authenticationError(expiringKey);
    expect([code, headers["www-authenticate"]]).toEqual(["key_expired", "Bearer"]);
    expect(lookups).toHaveLength(1);
  });

  it("returns 503 when it is not cached and accounts is unreachable", async () => {
    lookUp = async () => {
      throw new ApiError("service_unavailable", { headers: { "retry-after": "2" } });
    };
    const { code, headers } = await authenticationError(`Bearer ${validKey}`);
    expect([code, headers["retry-after"]]).toEqual(["service_unavailable", "2"]);
  });
});

describe("wrong keys", () => {
  it("are limited for each client address", async () => {
    for (let guess = 0; guess < 5; guess++)
      expect((await authenticationError(generateApiKey().key)).code).toBe("key_invalid");
    const { code, headers } = await authenticationError(generateApiKey().key);
    expect([code, headers["retry-after"]]).toEqual(["rate_limited", "1"]);
    expect((await authenticationError(generateApiKey().key, "192.0.2.2")).code).toBe("key_invalid");
    nowMs += 1_000;
    expect((await authenticationError(generateApiKey().key)).code).toBe("key_invalid");
  });

  it("are looked up within the limit, even while other lookups are in progress", async () => {
    lookUp = async () => new Promise(() => {});
    const outcomes = Array.from({ length: 20 }, () => authenticateFrom(generateApiKey().key));
    const settled = await Promise.race([
      Promise.allSettled(outcomes.slice(10)),
      new Promise((r) => setTimeout(r, 1000)),
    ]);
    expect(settled).toHaveLength(10);
    expect(lookups).toHaveLength(10);
  });

  it("are limited when they are malformed or revoked", async () => {
    for (let guess = 0; guess < 5; guess++) await authenticationError(guess % 2 ? revokedKey : `pragma_guess${guess}`);
    expect((await authenticationError("pragma_guess")).code).toBe("rate_limited");
    expect((await authenticationError(revokedKey)).code).toBe("rate_limited");
  });

  it("do not block a valid key from the same address, cached or not", async () => {
    for (let guess = 0; guess < 80; guess++) await authenticationError(`an operator-style key ${guess}`);
    for (let guess = 0; guess < 80; guess++) await authenticationError("pragma_guess");
    expect((await authenticateFrom(validKey)).principal.consumer).toBe("Acme");
    expect((await authenticateFrom(validKey)).principal.consumer).toBe("Acme");
  });

  it("do not include valid keys, however many valid keys one address uses", async () => {
    const key = await authenticateFrom(validKey);
    lookUp = async () => key;
    for (let count = 0; count < 50; count++) await authenticateFrom(generateApiKey().key);
  });

  it("from one IPv6 /64 network share a limit", async () => {
    for (let guess = 0; guess < 5; guess++) await authenticationError("pragma_guess", `2001:db8:1:2::${guess}`);
    expect((await authenticationError("pragma_guess", "2001:db8:1:2:ffff::1")).code).toBe("rate_limited");
    expect((await authenticationError("pragma_guess", "2001:db8:1:3::1")).code).toBe("key_invalid");
  });
});
