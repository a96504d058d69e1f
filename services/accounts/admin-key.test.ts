import { ApiKey } from "@pragma/contracts/api-consumer";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { ResolvedKey } from "@pragma/contracts/principal";
import { createLogger } from "@pragma/runtime/observability/logger";
import { createApiKey, hashApiKey, isWellFormedApiKey } from "@pragma/runtime/security/api-key";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ensureAdminKey } from "./keys.ts";
import accounts from "./service.ts";
import { gatewayTestPrincipal, operatorPrincipal } from "./testing/start-test-accounts.ts";

let environment: TestEnvironment;
let startedServices: TestService[];
let stderrOutput: string[];
beforeEach(async () => {
  environment = await createTestEnvironment({ DATABASE_POOL: "3" });
  startedServices = [];
  stderrOutput = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => stderrOutput.push(String(text)) > 0);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(startedServices.map((service) => service.stop()));
  await environment.remove();
});

async function startAccountsService(adminKey?: string): Promise<TestService> {
  const variables = { ...environment.variables, ...(adminKey !== undefined && { PRAGMA_ADMIN_KEY: adminKey }) };
  const service = await startTestService(accounts, { ...environment, variables });
  startedServices.push(service);
  return service;
}

/** What a key stands for: `admin`, `revoked`, or `unknown`. */
async function keyStatus(service: TestService, key: string): Promise<string> {
  const response = await service.request("GET", `/internal/keys/${hashApiKey(key)}`, {
    principal: gatewayTestPrincipal,
  });
  if (response.status === 404) return "unknown";
  const { revokedAt, consumer, scopes, location } = ResolvedKey.parse(await response.json());
  expect({ consumer, scopes, location }).toEqual({ consumer: "admin", scopes: ["admin"], location: null });
  return revokedAt ? "revoked" : "admin";
}

async function listKeys(service: TestService): Promise<ApiKey[]> {
  const response = await service.request("GET", "/v1/auth/keys/", { principal: operatorPrincipal });
  return paginatedSchema(ApiKey).parse(await response.json()).data;
}

const printedKeys = () => stderrOutput.join("").match(/pragma_\w+/g) ?? [];

describe("the first start without PRAGMA_ADMIN_KEY", () => {
  it("makes an admin key and shows it once", async () => {
    const service = await startAccountsService();
    const [key = ""] = printedKeys();
    expect(stderrOutput).toEqual([`The admin key, shown this once: ${key}\n`]);
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(await keyStatus(service, key)).toBe("admin");
    await startAccountsService();
    expect(stderrOutput).toHaveLength(1);
    expect(await listKeys(service)).toHaveLength(1);
  });

  it("makes one key when five instances start at once", async () => {
    const services = await Promise.all(Array.from({ length: 5 }, () => startAccountsService()));
    const [key = "", ...others] = printedKeys();
    expect(others).toEqual([]);
    expect(await Promise.all(services.map((service) => keyStatus(service, key)))).toEqual(Array(5).fill("admin"));
  });

  it("makes no other once the key was revoked", async () => {
    const service = await startAccountsService();
    const [key] = await listKeys(service);
    await service.request("DELETE", `/v1/auth/keys/${key?.id}`, { principal: operatorPrincipal });
    await startAccountsService();
    expect(printedKeys()).toHaveLength(1);
  });
});

describe("PRAGMA_ADMIN_KEY", () => {
  it("is the admin key, of which little is shown, and nothing on the way", async () => {
    const service = await startAccountsService("sixteen-chars-or");
    expect(await keyStatus(service, "sixteen-chars-or")).toBe("admin");
    expect((await listKeys(service)).map(({ prefix }) => prefix)).toEqual(["sixt"]);
    expect(stderrOutput).toEqual([]);
  });

  it("is shown as other keys are when it has their form", async () => {
    const { key, prefix } = createApiKey();
    expect((await listKeys(await startAccountsService(key))).map((each) => each.prefix)).toEqual([prefix]);
  });

  it("is one key when five instances start at once, and again", async () => {
    const services = await Promise.all(Array.from({ length: 5 }, () => startAccountsService("the-same-for-all")));
    await startAccountsService("the-same-for-all");
    for (const service of services) expect(await listKeys(service)).toHaveLength(1);
  });

  it("takes the place of the one before when five instances see to it at once", async () => {
    const service = await startAccountsService("the-first-admin-key");
    // Every connection is open beforehand, so that none of the five is ahead of the others.
    await Promise.all(Array.from({ length: 3 }, () => service.db.sql`select pg_sleep(0.1)`));
    const instance = { db: service.db, log: createLogger({ name: "accounts", level: "silent" }) };
    await Promise.all(Array.from({ length: 5 }, () => ensureAdminKey(instance, "the-second-admin-key")));
    expect(await listKeys(service)).toHaveLength(2);
    expect(await keyStatus(service, "the-first-admin-key")).toBe("revoked");
    expect(await keyStatus(service, "the-second-admin-key")).toBe("admin");
  });

  it("takes the place of the one before, which stays revoked when it is given again", async () => {
    await startAccountsService("the-first-admin-key");
    const service = await startAccountsService("the-second-admin-key");
    expect(await keyStatus(service, "the-first-admin-key")).toBe("revoked");
    await startAccountsService("the-first-admin-key");
    expect(await keyStatus(service, "the-first-admin-key")).toBe("revoked");
    expect(await keyStatus(service, "the-second-admin-key")).toBe("admin");
  });

  it("tells gateways of the key that it replaces", async () => {
    const first = await startAccountsService("the-first-admin-key");
    await first.db.sql.unsafe(`create table written (like outbox);
      create function keep() returns trigger language plpgsql as 'begin insert into written select new.*; return null; end';
      create trigger keep after insert on outbox for each row execute function keep();`);
    await startAccountsService("the-second-admin-key");
    const rows = await first.db.sql<{ body: string }[]>`select body from written order by position`;
    expect(rows.map(({ body }) => JSON.parse(body).data)).toMatchObject([
      { keyHash: hashApiKey("the-first-admin-key"), revoked: true, locationId: null },
      { keyHash: hashApiKey("the-second-admin-key"), revoked: false, locationId: null },
    ]);
  });

  it("leaves the key of the first start good, and that key makes no other", async () => {
    await startAccountsService();
    const [first = ""] = printedKeys();
    const service = await startAccountsService("given-at-the-second");
    expect(await keyStatus(service, first)).toBe("admin");
    expect(await keyStatus(service, "given-at-the-second")).toBe("admin");
    await startAccountsService();
    expect(printedKeys()).toHaveLength(1);
  });

  it("may be a key that was made for another consumer: then the service does not start", async () => {
    const service = await startAccountsService("the-operators-own-key");
    const ask = (path: string, body: unknown) => service.request("POST", path, { principal: operatorPrincipal, body });
    const imported = await ask("/v1/locations/import", {
      application: "POPINA",
      legacyId: 1,
      organizationId: "1",
      agencyId: "1",
    });
    const { id: locationId } = (await imported.json()) as { id: string };
    await ask("/v1/consumers/", { name: "Acme" });
    const made = await ask("/v1/auth/keys/", { locationId, consumerName: "Acme" });
    const { apiKey } = (await made.json()) as { apiKey: string };
    await expect(startAccountsService(apiKey)).rejects.toThrow("PRAGMA_ADMIN_KEY is the API key of another consumer.");
  });

  it.each(["too-short", "has spaces in the middle", "x".repeat(256), "pragma_admin_key_that_gateways_refuse"])(
    "is refused at start: %.20s",
    async (key) => {
      await expect(startAccountsService(key)).rejects.toThrow("PRAGMA_ADMIN_KEY: must");
    },
  );
});
