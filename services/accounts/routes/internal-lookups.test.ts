import { randomUUID } from "node:crypto";
import { ApiKey, CreatedApiKey } from "@pragma/contracts/api-consumer";
import { CreatedLocation } from "@pragma/contracts/location";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { LocationRef, ResolvedKey } from "@pragma/contracts/principal";
import { hashApiKey } from "@pragma/runtime/security/api-key";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  gatewayTestPrincipal,
  locationPrincipal,
  operatorPrincipal,
  startTestAccounts,
  type TestAccountsService,
  testAdminKey,
} from "../testing/start-test-accounts.ts";

let accounts: TestAccountsService;
let locationId: string;
beforeAll(async () => {
  accounts = await startTestAccounts();
  const body = { application: "JALIA", legacyId: 77, organizationId: "1", agencyId: "1" };
  const request = { method: "POST", path: "/v1/locations/import", body };
  locationId = (await accounts.sendJson(request, { status: 201, schema: CreatedLocation })).id;
  const consumer = { method: "POST", path: "/v1/consumers/", body: { name: "Acme" } };
  await accounts.request(consumer.method, consumer.path, { principal: operatorPrincipal, body: consumer.body });
});
afterAll(() => accounts.remove());

async function createKey(): Promise<string> {
  const request = { method: "POST", path: "/v1/auth/keys/", body: { locationId, consumerName: "Acme" } };
  return (await accounts.sendJson(request, { status: 201, schema: CreatedApiKey })).apiKey;
}

const resolveKey = (key: string) =>
  accounts.getJson(`/internal/keys/${hashApiKey(key)}`, ResolvedKey, gatewayTestPrincipal);

async function findListedKey(id: string) {
  const { data } = await accounts.getJson("/v1/auth/keys/?size=100", paginatedSchema(ApiKey));
  return data.find((key) => key.id === id);
}

describe("GET /internal/keys/{hash}", () => {
  it("tells what the operator's key stands for, which has no location", async () => {
    expect(await resolveKey(testAdminKey)).toMatchObject({ consumer: "admin", scopes: ["admin"], location: null });
  });

  it("notes that the key is in use, at most once a minute", async () => {
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

  it("does not note the use of a revoked key", async () => {
    const key = await createKey();
    const { data } = await accounts.getJson("/v1/auth/keys/?size=1", paginatedSchema(ApiKey));
    const id = data[0]?.id ?? "";
    await accounts.request("DELETE", `/v1/auth/keys/${id}`, { principal: operatorPrincipal });
    expect((await resolveKey(key)).revokedAt).not.toBeNull();
    expect((await findListedKey(id))?.lastUsedAt).toBeNull();
  });

  it("answers without waiting while the key is being changed", async () => {
    const key = await createKey();
    await accounts.db.transaction(async (tx) => {
      await tx`select 1 from api_keys where hash = ${hashApiKey(key)} for update`;
      const { keyId } = await resolveKey(key);
      expect((await findListedKey(keyId))?.lastUsedAt).toBeNull();
    });
  });

  it("answers 404 when there is no such key", async () => {
    const path = `/internal/keys/${hashApiKey("pragma_never_made")}`;
    expect((await accounts.requestProblem({ method: "GET", path, principal: gatewayTestPrincipal })).code).toBe(
      "key_not_found",
    );
  });

  it("answers 400 to what is no hash", async () => {
    const problem = await accounts.requestProblem({
      method: "GET",
      path: "/internal/keys/secret",
      principal: gatewayTestPrincipal,
    });
    expect(problem).toMatchObject({ code: "invalid_request", errors: [{ in: "path", path: "hash" }] });
  });

  it("answers nobody but the product's own parts", async () => {
    const path = `/internal/keys/${hashApiKey(testAdminKey)}`;
    expect((await accounts.requestProblem({ method: "GET", path, principal: operatorPrincipal })).code).toBe(
      "scope_missing",
    );
  });
});

describe("GET /internal/locations/", () => {
  const facts = { application: "JALIA" as const, legacyId: 77, timeZone: "Europe/Paris" };

  it("tells the facts of a location by its id and by its legacyId", async () => {
    expect(await accounts.getJson(`/internal/locations/${locationId}`, LocationRef, gatewayTestPrincipal)).toEqual({
      id: locationId,
      ...facts,
    });
    const byLegacyId = "/internal/locations/?application=JALIA&legacyId=77";
    expect(await accounts.getJson(byLegacyId, LocationRef, gatewayTestPrincipal)).toEqual({ id: locationId, ...facts });
  });

  it("tells the time zone as it was last set", async () => {
    const body = { locationSettings: { timezone: "Indian/Reunion" } };
    await accounts.request("PATCH", `/v1/locations/${locationId}`, { principal: operatorPrincipal, body });
    const { timeZone } = await accounts.getJson(`/internal/locations/${locationId}`, LocationRef, gatewayTestPrincipal);
    expect(timeZone).toBe("Indian/Reunion");
  });

  it.each([`/internal/locations/${randomUUID()}`, "/internal/locations/?application=POPINA&legacyId=77"])(
    "answers 404 when there is no such location: %s",
    async (path) => {
      expect((await accounts.requestProblem({ method: "GET", path, principal: gatewayTestPrincipal })).code).toBe(
        "location_not_found",
      );
    },
  );

  it("reports every fault at once", async () => {
    const path = "/internal/locations/?application=popina";
    const problem = await accounts.requestProblem({ method: "GET", path, principal: gatewayTestPrincipal });
    expect(problem.errors?.map((fault) => fault.path).sort()).toEqual(["application", "legacyId"]);
    const wrong = await accounts.requestProblem({
      method: "GET",
      path: "/internal/locations/7",
      principal: gatewayTestPrincipal,
    });
    expect(wrong.errors).toMatchObject([{ in: "path", path: "id" }]);
  });

  it("answers nobody but the product's own parts", async () => {
    const path = `/internal/locations/${locationId}`;
    const principal = locationPrincipal(locationId, "locations:write", "locations:any");
    expect((await accounts.requestProblem({ method: "GET", path, principal })).code).toBe("scope_missing");
    const byLegacyId = "/internal/locations/?application=JALIA&legacyId=77";
    expect(
      (await accounts.requestProblem({ method: "GET", path: byLegacyId, principal: operatorPrincipal })).code,
    ).toBe("scope_missing");
  });
});
