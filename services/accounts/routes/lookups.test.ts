import { randomUUID } from "node:crypto";
import { ApiKey, CreatedApiKey } from "@pragma/contracts/consumer";
import { CreatedLocation } from "@pragma/contracts/location";
import { pageOf } from "@pragma/contracts/pagination";
import { KeyFacts, LocationFacts } from "@pragma/contracts/principal";
import { hashKey } from "@pragma/runtime/api-key";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminKey, insider, keyOf, operator, startAccounts, type TestAccounts } from "../testing/start-accounts.ts";

let accounts: TestAccounts;
let locationId: string;
beforeAll(async () => {
  accounts = await startAccounts();
  const body = { application: "JALIA", legacyId: 77, organizationId: "1", agencyId: "1" };
  const request = { method: "POST", path: "/v1/locations/import", body };
  locationId = (await accounts.send(request, { status: 201, schema: CreatedLocation })).id;
  const consumer = { method: "POST", path: "/v1/consumers/", body: { name: "Acme" } };
  await accounts.ask(consumer.method, consumer.path, { principal: operator, body: consumer.body });
});
afterAll(() => accounts.remove());

async function createKey(): Promise<string> {
  const request = { method: "POST", path: "/v1/auth/keys/", body: { locationId, consumerName: "Acme" } };
  return (await accounts.send(request, { status: 201, schema: CreatedApiKey })).apiKey;
}

const lookUp = (key: string) => accounts.get(`/internal/keys/${hashKey(key)}`, KeyFacts, insider);

async function listed(id: string) {
  const { data } = await accounts.get("/v1/auth/keys/?size=100", pageOf(ApiKey));
  return data.find((key) => key.id === id);
}

describe("GET /internal/keys/{hash}", () => {
  it("tells what the operator's key stands for, which has no location", async () => {
    expect(await lookUp(adminKey)).toMatchObject({ consumer: "admin", scopes: ["admin"], location: null });
  });

  it("notes that the key is in use, at most once a minute", async () => {
    const key = await createKey();
    const { keyId } = await lookUp(key);
    const first = (await listed(keyId))?.lastUsedAt;
    expect(first).not.toBeNull();
    await lookUp(key);
    expect((await listed(keyId))?.lastUsedAt).toBe(first);
    await accounts.db.sql`update api_keys set last_used_at = now() - interval '2 minutes' where id = ${keyId}`;
    const stale = (await listed(keyId))?.lastUsedAt ?? "";
    await lookUp(key);
    expect(((await listed(keyId))?.lastUsedAt ?? "") > stale).toBe(true);
  });

  it("does not note the use of a revoked key", async () => {
    const key = await createKey();
    const { data } = await accounts.get("/v1/auth/keys/?size=1", pageOf(ApiKey));
    const id = data[0]?.id ?? "";
    await accounts.ask("DELETE", `/v1/auth/keys/${id}`, { principal: operator });
    expect((await lookUp(key)).revokedAt).not.toBeNull();
    expect((await listed(id))?.lastUsedAt).toBeNull();
  });

  it("answers without waiting while the key is being changed", async () => {
    const key = await createKey();
    await accounts.db.transaction(async (tx) => {
      await tx`select 1 from api_keys where hash = ${hashKey(key)} for update`;
      const { keyId } = await lookUp(key);
      expect((await listed(keyId))?.lastUsedAt).toBeNull();
    });
  });

  it("answers 404 when there is no such key", async () => {
    const path = `/internal/keys/${hashKey("pragma_never_made")}`;
    expect((await accounts.refusal({ method: "GET", path, principal: insider })).code).toBe("key_not_found");
  });

  it("answers 400 to what is no hash", async () => {
    const problem = await accounts.refusal({ method: "GET", path: "/internal/keys/secret", principal: insider });
    expect(problem).toMatchObject({ code: "invalid_request", errors: [{ in: "path", path: "hash" }] });
  });

  it("answers nobody but the product's own parts", async () => {
    const path = `/internal/keys/${hashKey(adminKey)}`;
    expect((await accounts.refusal({ method: "GET", path, principal: operator })).code).toBe("scope_missing");
  });
});

describe("GET /internal/locations/", () => {
  const facts = { application: "JALIA" as const, legacyId: 77, timeZone: "Europe/Paris" };

  it("tells the facts of a location by its id and by its legacyId", async () => {
    expect(await accounts.get(`/internal/locations/${locationId}`, LocationFacts, insider)).toEqual({
      id: locationId,
      ...facts,
    });
    const byLegacyId = "/internal/locations/?application=JALIA&legacyId=77";
    expect(await accounts.get(byLegacyId, LocationFacts, insider)).toEqual({ id: locationId, ...facts });
  });

  it("tells the time zone as it was last set", async () => {
    const body = { locationSettings: { timezone: "Indian/Reunion" } };
    await accounts.ask("PATCH", `/v1/locations/${locationId}`, { principal: operator, body });
    const { timeZone } = await accounts.get(`/internal/locations/${locationId}`, LocationFacts, insider);
    expect(timeZone).toBe("Indian/Reunion");
  });

  it.each([`/internal/locations/${randomUUID()}`, "/internal/locations/?application=POPINA&legacyId=77"])(
    "answers 404 when there is no such location: %s",
    async (path) => {
      expect((await accounts.refusal({ method: "GET", path, principal: insider })).code).toBe("location_not_found");
    },
  );

  it("reports every fault at once", async () => {
    const path = "/internal/locations/?application=popina";
    const problem = await accounts.refusal({ method: "GET", path, principal: insider });
    expect(problem.errors?.map((fault) => fault.path).sort()).toEqual(["application", "legacyId"]);
    const wrong = await accounts.refusal({ method: "GET", path: "/internal/locations/7", principal: insider });
    expect(wrong.errors).toMatchObject([{ in: "path", path: "id" }]);
  });

  it("answers nobody but the product's own parts", async () => {
    const path = `/internal/locations/${locationId}`;
    const principal = keyOf(locationId, "locations:write", "locations:any");
    expect((await accounts.refusal({ method: "GET", path, principal })).code).toBe("scope_missing");
    const byLegacyId = "/internal/locations/?application=JALIA&legacyId=77";
    expect((await accounts.refusal({ method: "GET", path: byLegacyId, principal: operator })).code).toBe(
      "scope_missing",
    );
  });
});
