import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { catalogExample } from "@pragma/contracts/examples/catalog";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedDemoLocationThroughApi } from "./seed-demo.ts";
import { FakeDemoApi } from "./testing/fake-demo-api.ts";

const now = new Date("2026-06-15T12:00:00.000Z");

/** The result of a first run. Each test starts with a copy of this result. */
const firstRun = { api: new FakeDemoApi(), instructions: "", demoFile: "" };

let folder: string;
let api: FakeDemoApi;

const file = () => join(folder, "demo.json");

function seed(at = now) {
  return seedDemoLocationThroughApi({
    url: "http://localhost:4000",
    adminKey: api.adminKey,
    file: file(),
    now: at,
    fetch: api.fetch,
    wait: async () => api.computeOneReport(),
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "seed-demo-"));
  ({ api } = firstRun);
  firstRun.instructions = await seed();
  firstRun.demoFile = await readFile(file(), "utf8");
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "seed-demo-"));
  await writeFile(file(), firstRun.demoFile);
  api = firstRun.api.copy();
});
afterEach(() => rm(folder, { recursive: true }));

describe("seedDemo", () => {
  it("pushes a catalog with every product of the tills", () => {
    const productIds = new Set(api.catalog?.products.map(({ id }) => id));
    const rows = [...api.tills.values()].flatMap(({ orderList }) => orderList).flatMap((order) => order.productRowList);
    expect(rows.length).toBeGreaterThan(1_000);
    expect(rows.filter(({ productId }) => productId !== null && !productIds.has(productId))).toEqual([]);
  });

  it("keeps an existing catalog", async () => {
    api.catalog = catalogExample;
    await seed();
    expect(api.catalog).toBe(catalogExample);
  });

  it("corrects the scopes of existing consumers", async () => {
    api.catalog = null;
    api.setScopes(["reports:read", "tills:read", "tills:write", "catalog:read"]);
    await seed();
    expect(api.writes.map((call) => call.replace(/[\da-f-]{36}/, "{id}"))).toEqual([
      "PATCH /v1/consumers/{id}",
      "PATCH /v1/consumers/{id}",
      "PUT /v1/catalog",
    ]);
  });

  it("creates a key with the scopes of every public operation", async () => {
    const document = await readFile(new URL("../../contracts/openapi.json", import.meta.url), "utf8");
    const requiredScopes = new Set([...document.matchAll(/Scope: `([a-z:]+)`/g)].map(([, scope]) => scope));
    expect(requiredScopes).toContain("webhooks:write");
    expect(api.scopes).toEqual(expect.arrayContaining([...requiredScopes]));
  });

  it("creates a location with thirty tills, and returns instructions for reading them", async () => {
    const { instructions } = firstRun;
    expect(api.tills.size).toBe(30);
    expect(api.locations).toHaveLength(1);
    const { locationId, apiKey } = JSON.parse(await readFile(file(), "utf8"));
    expect(api.locations[0]).toMatchObject({ id: locationId, name: expect.any(String) });
    expect(instructions).toContain(locationId);
    expect(instructions).toContain(apiKey);
    const newest = api.reports.find(({ startedAt }) => startedAt === "2026-06-14T06:00:00.000Z");
    const curls = instructions.split("\n").filter((line) => line.startsWith("curl "));
    expect(curls).toEqual([
      `curl -H 'authorization: Bearer ${apiKey}' 'http://localhost:4000/v2/reports?size=3'`,
      `curl -H 'authorization: Bearer ${apiKey}' 'http://localhost:4000/v2/reports/${newest?.id}'`,
      "curl 'http://localhost:4000/health'",
    ]);
  });

  it("creates a key for the home page of the documentation that can only read reports and the location", async () => {
    const { apiKey, siteApiKey } = JSON.parse(firstRun.demoFile);
    expect(api.scopesOfKey(siteApiKey)).toEqual(["reports:read", "locations:read"]);
    expect(siteApiKey).not.toBe(apiKey);
    expect(firstRun.instructions).not.toContain(siteApiKey);
  });

  it("changes nothing in a second run", async () => {
    expect(await seed()).toBe(firstRun.instructions);
    expect(api.writes).toEqual([]);
  });

  it("adds one till in a run on the next day", async () => {
    await seed(new Date("2026-06-16T12:00:00.000Z"));
    expect(api.writes).toEqual(["POST /v2/tills"]);
  });

  it.each([
    ["is lost", () => rm(file())],
    ["is broken", () => writeFile(file(), "{")],
    ["contains a revoked key", async () => api.revokeKeys()],
  ])("reuses the location and creates a new key when the file %s", async (_, breakFile) => {
    await breakFile();
    const instructions = await seed();
    expect(api.locations).toHaveLength(1);
    expect(api.writes).not.toContain("POST /v2/tills");
    expect(instructions).toContain(JSON.parse(await readFile(file(), "utf8")).apiKey);
  });

  it("keeps an existing till with other content", async () => {
    api.shouldRejectTills = true;
    const [oldest = ""] = api.tills.keys();
    api.tills.delete(oldest);
    await expect(seed()).resolves.toContain("Demo location");
    expect(api.writes).toEqual(["POST /v2/tills"]);
    expect(api.tills.has(oldest)).toBe(false);
  });

  it("retries while the API is busy or unreachable", async () => {
    api.nextErrors = ["service_unavailable", "unreachable", "rate_limited"];
    await expect(seed()).resolves.toContain("Demo location");
    expect(api.nextErrors).toEqual([]);
  });

  it("fails with the API's error when a call is rejected", async () => {
    api.adminKey = "another";
    await expect(
      seedDemoLocationThroughApi({
        url: "http://localhost:4000",
        adminKey: "wrong",
        file: file(),
        now,
        fetch: api.fetch,
      }),
    ).rejects.toThrow(/^GET \/v1\/consumers\?\S+ responded 401: The API key is invalid/);
  });

  it("fails when no more reports arrive, with their number", async () => {
    api.reports.length = 0;
    api.maxReports = 12;
    await expect(seed()).rejects.toThrow("Only 12 of 30 reports are available");
  });
});
