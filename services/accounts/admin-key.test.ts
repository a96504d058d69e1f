import { ApiKey } from "@pragma/contracts/api-consumer";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { ResolvedApiKey } from "@pragma/contracts/principal";
import { createLogger } from "@pragma/runtime/observability/logger";
import { generateApiKey, hashApiKey, isWellFormedApiKey } from "@pragma/runtime/security/api-key";
import { installTestOutboxCopyTrigger } from "@pragma/runtime/testing/outbox-recorder";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ensureAdminApiKey } from "./admin-key.ts";
import accounts from "./service.ts";
import { gatewayConsumerTestPrincipal, operatorTestPrincipal } from "./testing/start-test-accounts.ts";

let environment: IsolatedTestEnvironment;
let startedServices: TestService[];
let stderrOutput: string[];
beforeEach(async () => {
  environment = await createIsolatedTestEnvironment({ DATABASE_POOL: "3" });
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

/** Returns the status of an API key: `admin`, `revoked` or `unknown`. */
async function keyStatus(service: TestService, key: string): Promise<string> {
  const response = await service.request("GET", `/internal/keys/${hashApiKey(key)}`, {
    principal: gatewayConsumerTestPrincipal,
  });
  if (response.status === 404) return "unknown";
  const { revokedAt, consumer, scopes, location } = ResolvedApiKey.parse(await response.json());
  expect({ consumer, scopes, location }).toEqual({ consumer: "admin", scopes: ["admin"], location: null });
  return revokedAt ? "revoked" : "admin";
}

async function listKeys(service: TestService): Promise<ApiKey[]> {
  const response = await service.request("GET", "/v1/auth/keys/", { principal: operatorTestPrincipal });
  return paginatedSchema(ApiKey).parse(await response.json()).data;
}

const printedKeys = () => stderrOutput.join("").match(/pragma_\w+/g) ?? [];

describe("the first start without PRAGMA_ADMIN_KEY", () => {
  it("creates an admin key and prints it once", async () => {
    const service = await startAccountsService();
    const [key = ""] = printedKeys();
    expect(stderrOutput).toEqual([`Admin key (shown only once): ${key}\n`]);
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(await keyStatus(service, key)).toBe("admin");
    await startAccountsService();
    expect(stderrOutput).toHaveLength(1);
    expect(await listKeys(service)).toHaveLength(1);
  });

  it("creates one key when five instances start concurrently", async () => {
    const services = await Promise.all(Array.from({ length: 5 }, () => startAccountsService()));
    const [key = "", ...others] = printedKeys();
    expect(others).toEqual([]);
    expect(await Promise.all(services.map((service) => keyStatus(service, key)))).toEqual(Array(5).fill("admin"));
  });

  it("creates no other key after the first key was revoked", async () => {
    const service = await startAccountsService();
    const [key] = await listKeys(service);
    await service.request("DELETE", `/v1/auth/keys/${key?.id}`, { principal: operatorTestPrincipal });
    await startAccountsService();
    expect(printedKeys()).toHaveLength(1);
  });
});

describe("PRAGMA_ADMIN_KEY", () => {
  it("becomes the admin key, is never printed, and is listed by its first characters", async () => {
    const service = await startAccountsService("sixteen-chars-or");
    expect(await keyStatus(service, "sixteen-chars-or")).toBe("admin");
    expect((await listKeys(service)).map(({ prefix }) => prefix)).toEqual(["sixt"]);
    expect(stderrOutput).toEqual([]);
  });

  it("is listed with the usual prefix if it has the form of other keys", async () => {
    const { key, prefix } = generateApiKey();
    expect((await listKeys(await startAccountsService(key))).map((each) => each.prefix)).toEqual([prefix]);
  });

  it("creates one key when five instances start concurrently, and again later", async () => {
    const services = await Promise.all(Array.from({ length: 5 }, () => startAccountsService("the-same-for-all")));
    await startAccountsService("the-same-for-all");
    for (const service of services) expect(await listKeys(service)).toHaveLength(1);
  });

  it("replaces the previous key when five instances start concurrently", async () => {
    const service = await startAccountsService("the-first-admin-key");
    // Opens three connections first, so that several of the five calls really run at the same time.
    await Promise.all(Array.from({ length: 3 }, () => service.db.sql`select pg_sleep(0.1)`));
    const instance = { db: service.db, log: createLogger({ name: "accounts", level: "silent" }) };
    await Promise.all(Array.from({ length: 5 }, () => ensureAdminApiKey(instance, "the-second-admin-key")));
    expect(await listKeys(service)).toHaveLength(2);
    expect(await keyStatus(service, "the-first-admin-key")).toBe("revoked");
    expect(await keyStatus(service, "the-second-admin-key")).toBe("admin");
  });

  it("replaces the previous key, which stays revoked when it is configured again", async () => {
    await startAccountsService("the-first-admin-key");
    const service = await startAccountsService("the-second-admin-key");
    expect(await keyStatus(service, "the-first-admin-key")).toBe("revoked");
    await startAccountsService("the-first-admin-key");
    expect(await keyStatus(service, "the-first-admin-key")).toBe("revoked");
    expect(await keyStatus(service, "the-second-admin-key")).toBe("admin");
  });

  it("publishes key.changed for the key that it replaces", async () => {
    const first = await startAccountsService("the-first-admin-key");
    await installTestOutboxCopyTrigger(first.db);
    await startAccountsService("the-second-admin-key");
    const rows = await first.db.sql<{ body: string }[]>`select body from recorded_outbox order by position`;
    expect(rows.map(({ body }) => JSON.parse(body).data)).toMatchObject([
      { keyHash: hashApiKey("the-first-admin-key"), revoked: true, locationId: null },
      { keyHash: hashApiKey("the-second-admin-key"), revoked: false, locationId: null },
    ]);
  });

  it("keeps the key of the first start valid", async () => {
    await startAccountsService();
    const [first = ""] = printedKeys();
    const service = await startAccountsService("given-at-the-second");
    expect(await keyStatus(service, first)).toBe("admin");
    expect(await keyStatus(service, "given-at-the-second")).toBe("admin");
    await startAccountsService();
    expect(printedKeys()).toHaveLength(1);
  });

  it("stops the service at start if it is the key of another consumer", async () => {
    const service = await startAccountsService("the-operators-own-key");
    const post = (path: string, body: unknown) =>
      service.request("POST", path, { principal: operatorTestPrincipal, body });
    const imported = await post("/v1/locations/import", {
      application: "POPINA",
      legacyId: 1,
      organizationId: "1",
      agencyId: "1",
    });
    const { id: locationId } = (await imported.json()) as { id: string };
    await post("/v1/consumers/", { name: "Acme" });
    const createdKey = await post("/v1/auth/keys/", { locationId, consumerName: "Acme" });
    const { apiKey } = (await createdKey.json()) as { apiKey: string };
    await expect(startAccountsService(apiKey)).rejects.toThrow("PRAGMA_ADMIN_KEY is the API key of another consumer.");
  });

  it.each(["too-short", "has spaces in the middle", "x".repeat(256), "pragma_admin_key_that_gateways_refuse"])(
    "stops the service at start if it is invalid: %.20s",
    async (key) => {
      await expect(startAccountsService(key)).rejects.toThrow("PRAGMA_ADMIN_KEY: must");
    },
  );
});
