import { ApiKey } from "@pragma/contracts/consumer";
import { pageOf } from "@pragma/contracts/pagination";
import { KeyFacts } from "@pragma/contracts/principal";
import { createApiKey, hashKey, hasKeyShape } from "@pragma/runtime/api-key";
import { createLogger } from "@pragma/runtime/logger";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ensureAdminKey } from "./keys.ts";
import accounts from "./service.ts";
import { insider, operator } from "./testing/start-accounts.ts";

let environment: TestEnvironment;
let started: TestService[];
let shown: string[];
beforeEach(async () => {
  environment = await createTestEnvironment({ DATABASE_POOL: "3" });
  started = [];
  shown = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => shown.push(String(text)) > 0);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(started.map((service) => service.stop()));
  await environment.remove();
});

async function start(adminKey?: string): Promise<TestService> {
  const variables = { ...environment.variables, ...(adminKey !== undefined && { PRAGMA_ADMIN_KEY: adminKey }) };
  const service = await startTestService(accounts, { ...environment, variables });
  started.push(service);
  return service;
}

/** What a key stands for: `admin`, `revoked`, or `unknown`. */
async function standing(service: TestService, key: string): Promise<string> {
  const reply = await service.ask("GET", `/internal/keys/${hashKey(key)}`, { principal: insider });
  if (reply.status === 404) return "unknown";
  const { revokedAt, consumer, scopes, location } = KeyFacts.parse(await reply.json());
  expect({ consumer, scopes, location }).toEqual({ consumer: "admin", scopes: ["admin"], location: null });
  return revokedAt ? "revoked" : "admin";
}

async function keys(service: TestService): Promise<ApiKey[]> {
  const reply = await service.ask("GET", "/v1/auth/keys/", { principal: operator });
  return pageOf(ApiKey).parse(await reply.json()).data;
}

const keysShown = () => shown.join("").match(/pragma_\w+/g) ?? [];

describe("the first start without PRAGMA_ADMIN_KEY", () => {
  it("makes an admin key and shows it once", async () => {
    const service = await start();
    const [key = ""] = keysShown();
    expect(shown).toEqual([`The admin key, shown this once: ${key}\n`]);
    expect(hasKeyShape(key)).toBe(true);
    expect(await standing(service, key)).toBe("admin");
    await start();
    expect(shown).toHaveLength(1);
    expect(await keys(service)).toHaveLength(1);
  });

  it("makes one key when five instances start at once", async () => {
    const services = await Promise.all(Array.from({ length: 5 }, () => start()));
    const [key = "", ...others] = keysShown();
    expect(others).toEqual([]);
    expect(await Promise.all(services.map((service) => standing(service, key)))).toEqual(Array(5).fill("admin"));
  });

  it("makes no other once the key was revoked", async () => {
    const service = await start();
    const [key] = await keys(service);
    await service.ask("DELETE", `/v1/auth/keys/${key?.id}`, { principal: operator });
    await start();
    expect(keysShown()).toHaveLength(1);
  });
});

describe("PRAGMA_ADMIN_KEY", () => {
  it("is the admin key, of which little is shown, and nothing on the way", async () => {
    const service = await start("sixteen-chars-or");
    expect(await standing(service, "sixteen-chars-or")).toBe("admin");
    expect((await keys(service)).map(({ prefix }) => prefix)).toEqual(["sixt"]);
    expect(shown).toEqual([]);
  });

  it("is shown as other keys are when it has their form", async () => {
    const { key, prefix } = createApiKey();
    expect((await keys(await start(key))).map((each) => each.prefix)).toEqual([prefix]);
  });

  it("is one key when five instances start at once, and again", async () => {
    const services = await Promise.all(Array.from({ length: 5 }, () => start("the-same-for-all")));
    await start("the-same-for-all");
    for (const service of services) expect(await keys(service)).toHaveLength(1);
  });

  it("takes the place of the one before when five instances see to it at once", async () => {
    const service = await start("the-first-admin-key");
    // Every connection is open beforehand, so that none of the five is ahead of the others.
    await Promise.all(Array.from({ length: 3 }, () => service.db.sql`select pg_sleep(0.1)`));
    const instance = { db: service.db, log: createLogger({ name: "accounts", level: "silent" }) };
    await Promise.all(Array.from({ length: 5 }, () => ensureAdminKey(instance, "the-second-admin-key")));
    expect(await keys(service)).toHaveLength(2);
    expect(await standing(service, "the-first-admin-key")).toBe("revoked");
    expect(await standing(service, "the-second-admin-key")).toBe("admin");
  });

  it("takes the place of the one before, which stays revoked when it is given again", async () => {
    await start("the-first-admin-key");
    const service = await start("the-second-admin-key");
    expect(await standing(service, "the-first-admin-key")).toBe("revoked");
    await start("the-first-admin-key");
    expect(await standing(service, "the-first-admin-key")).toBe("revoked");
    expect(await standing(service, "the-second-admin-key")).toBe("admin");
  });

  it("tells gateways of the key that it replaces", async () => {
    const first = await start("the-first-admin-key");
    await first.db.sql.unsafe(`create table written (like outbox);
      create function keep() returns trigger language plpgsql as 'begin insert into written select new.*; return null; end';
      create trigger keep after insert on outbox for each row execute function keep();`);
    await start("the-second-admin-key");
    const rows = await first.db.sql<{ body: string }[]>`select body from written order by position`;
    expect(rows.map(({ body }) => JSON.parse(body).data)).toMatchObject([
      { keyHash: hashKey("the-first-admin-key"), revoked: true, locationId: null },
      { keyHash: hashKey("the-second-admin-key"), revoked: false, locationId: null },
    ]);
  });

  it("leaves the key of the first start good, and that key makes no other", async () => {
    await start();
    const [first = ""] = keysShown();
    const service = await start("given-at-the-second");
    expect(await standing(service, first)).toBe("admin");
    expect(await standing(service, "given-at-the-second")).toBe("admin");
    await start();
    expect(keysShown()).toHaveLength(1);
  });

  it("may be a key that was made for another consumer: then the service does not start", async () => {
    const service = await start("the-operators-own-key");
    const ask = (path: string, body: unknown) => service.ask("POST", path, { principal: operator, body });
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
    await expect(start(apiKey)).rejects.toThrow("PRAGMA_ADMIN_KEY is the API key of another consumer.");
  });

  it.each(["too-short", "has spaces in the middle", "x".repeat(256), "pragma_admin_key_that_gateways_refuse"])(
    "is refused at start: %.20s",
    async (key) => {
      await expect(start(key)).rejects.toThrow("PRAGMA_ADMIN_KEY: must");
    },
  );
});
