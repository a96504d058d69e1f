import { randomUUID } from "node:crypto";
import { ApiKey, CreatedApiKey } from "@pragma/contracts/api-consumer";
import { CreateLocationResponse } from "@pragma/contracts/location";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { LocationRef, NamedLocations, ResolvedApiKey } from "@pragma/contracts/principal";
import { hashApiKey } from "@pragma/runtime/security/api-key";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AccountsServiceUnderTest,
  buildTestLocationPrincipal,
  gatewayConsumerTestPrincipal,
  operatorTestPrincipal,
  startAccountsServiceUnderTest,
  testAdminKey,
} from "../testing/start-test-accounts.ts";

let accounts: AccountsServiceUnderTest;
let locationId: string;
beforeAll(async () => {
  accounts = await startAccountsServiceUnderTest();
  const body = { application: "JALIA", legacyId: 77, organizationId: "1", agencyId: "1" };
  const request = { method: "POST", path: "/v1/locations/import", body };
  locationId = (await accounts.sendJson(request, { status: 201, schema: CreateLocationResponse })).id;
  const consumer = { method: "POST", path: "/v1/consumers/", body: { name: "Acme" } };
  await accounts.request(consumer.method, consumer.path, { principal: operatorTestPrincipal, body: consumer.body });
});
afterAll(() => accounts.remove());

async function createKey(): Promise<string> {
  const request = { method: "POST", path: "/v1/auth/keys/", body: { locationId, consumerName: "Acme" } };
  return (await accounts.sendJson(request, { status: 201, schema: CreatedApiKey })).apiKey;
}

const resolveKey = (key: string) =>
  accounts.getJson(`/internal/keys/${hashApiKey(key)}`, ResolvedApiKey, gatewayConsumerTestPrincipal);

async function findListedKey(id: string) {
  const { data } = await accounts.getJson("/v1/auth/keys/?size=100", paginatedSchema(ApiKey));
  return data.find((key) => key.id === id);
}

describe("GET /internal/keys/{hash}", () => {
  it("returns the operator's key, which has no location", async () => {
    expect(await resolveKey(testAdminKey)).toMatchObject({ consumer: "admin", scopes: ["admin"], location: null });
  });

  it("records the use of a key, at most once a minute", async () => {
    const key = await createKey();
    const { keyId } = await resolveKey(key);
    const first = (await findListedKey(keyId))?.lastUsedAt;
    expect(first).not.toBeNull();
    await resolveKey(key);
    expect((await findListedKey(keyId))?.lastUsedAt).toBe(first);
    await accounts.db.sql`update api_keys set last_used_at = now() - interval '2 minutes' where id = ${keyId}`;
    const stale = (await findListedKey(keyId))?.lastUsedAt ?? "";
    await resolveKey(key);
    expect(((await findListedKey(keyId))?.lastUsedAt ?? "") > stale).toBe(true);
  });

  it("does not record the use of a revoked key", async () => {
    const key = await createKey();
    const { data } = await accounts.getJson("/v1/auth/keys/?size=1", paginatedSchema(ApiKey));
    const id = data[0]?.id ?? "";
    await accounts.request("DELETE", `/v1/auth/keys/${id}`, { principal: operatorTestPrincipal });
    expect((await resolveKey(key)).revokedAt).not.toBeNull();
    expect((await findListedKey(id))?.lastUsedAt).toBeNull();
  });

  it("responds without waiting while the key is locked", async () => {
    const key = await createKey();
    await accounts.db.transaction(async (tx) => {
      await tx`select 1 from api_keys where hash = ${hashApiKey(key)} for update`;
      const { keyId } = await resolveKey(key);
      expect((await findListedKey(keyId))?.lastUsedAt).toBeNull();
    });
  });

  it("returns 404 for an unknown key", async () => {
    const path = `/internal/keys/${hashApiKey("pragma_unknown")}`;
    expect((await accounts.requestProblem({ method: "GET", path, principal: gatewayConsumerTestPrincipal })).code).toBe(
      "key_not_found",
    );
  });

  it("returns 400 for a value that is not a hash", async () => {
    const problem = await accounts.requestProblem({
      method: "GET",
      path: "/internal/keys/secret",
      principal: gatewayConsumerTestPrincipal,
    });
    expect(problem).toMatchObject({ code: "invalid_request", errors: [{ in: "path", path: "hash" }] });
  });

  it("returns 403 to anyone but internal services", async () => {
    const path = `/internal/keys/${hashApiKey(testAdminKey)}`;
    expect((await accounts.requestProblem({ method: "GET", path, principal: operatorTestPrincipal })).code).toBe(
      "scope_missing",
    );
  });
});

describe("GET /internal/locations/", () => {
  const locationFields = { application: "JALIA" as const, legacyId: 77, timeZone: "Europe/Paris" };

  it("returns a location by its id and by its legacyId", async () => {
    expect(
      await accounts.getJson(`/internal/locations/${locationId}`, LocationRef, gatewayConsumerTestPrincipal),
    ).toEqual({
      id: locationId,
      ...locationFields,
    });
    const byLegacyId = "/internal/locations/?application=JALIA&legacyId=77";
    expect(await accounts.getJson(byLegacyId, LocationRef, gatewayConsumerTestPrincipal)).toEqual({
      id: locationId,
      ...locationFields,
    });
  });

  it("returns the current time zone", async () => {
    const body = { locationSettings: { timezone: "Indian/Reunion" } };
    await accounts.request("PATCH", `/v1/locations/${locationId}`, { principal: operatorTestPrincipal, body });
    const { timeZone } = await accounts.getJson(
      `/internal/locations/${locationId}`,
      LocationRef,
      gatewayConsumerTestPrincipal,
    );
    expect(timeZone).toBe("Indian/Reunion");
  });

  it.each([`/internal/locations/${randomUUID()}`, "/internal/locations/?application=POPINA&legacyId=77"])(
    "returns 404 for an unknown location: %s",
    async (path) => {
      expect(
        (await accounts.requestProblem({ method: "GET", path, principal: gatewayConsumerTestPrincipal })).code,
      ).toBe("location_not_found");
    },
  );

  it("reports all issues at once", async () => {
    const path = "/internal/locations/?application=popina";
    const problem = await accounts.requestProblem({ method: "GET", path, principal: gatewayConsumerTestPrincipal });
    expect(problem.errors?.map(({ path: issuePath }) => issuePath).sort()).toEqual(["application", "legacyId"]);
    const invalidIdProblem = await accounts.requestProblem({
      method: "GET",
      path: "/internal/locations/7",
      principal: gatewayConsumerTestPrincipal,
    });
    expect(invalidIdProblem.errors).toMatchObject([{ in: "path", path: "id" }]);
  });

  it("returns 403 to anyone but internal services", async () => {
    const path = `/internal/locations/${locationId}`;
    const principal = buildTestLocationPrincipal(locationId, "locations:write", "locations:any");
    expect((await accounts.requestProblem({ method: "GET", path, principal })).code).toBe("scope_missing");
    const byLegacyId = "/internal/locations/?application=JALIA&legacyId=77";
    expect(
      (await accounts.requestProblem({ method: "GET", path: byLegacyId, principal: operatorTestPrincipal })).code,
    ).toBe("scope_missing");
  });
});

it("returns the names of known locations", async () => {
  const path = (ids: string[]) => `/internal/location-names/?ids=${ids.join()}`;
  const found = await accounts.getJson(path([locationId, randomUUID()]), NamedLocations, gatewayConsumerTestPrincipal);
  expect(found).toEqual({ locations: [{ id: locationId, name: null, isSandbox: false }] });
  for (const [ids, principal, code] of [
    [Array.from({ length: 101 }, () => randomUUID()), gatewayConsumerTestPrincipal, "invalid_request"],
    [["no-id"], gatewayConsumerTestPrincipal, "invalid_request"],
    [[locationId], operatorTestPrincipal, "scope_missing"],
  ] as const)
    expect((await accounts.requestProblem({ method: "GET", path: path([...ids]), principal })).code).toBe(code);
});
