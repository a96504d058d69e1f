import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { catalogExample } from "@pragma/contracts/examples/catalog";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedDemo } from "./seed-demo.ts";
import { FakeDemoApi } from "./testing/fake-demo-api.ts";

const now = new Date("2026-06-15T12:00:00.000Z");

/** What a first run leaves behind; each test goes on from a copy of it. */
const first = { api: new FakeDemoApi(), instructions: "", shown: [] as string[], demoFile: "" };

let folder: string;
let api: FakeDemoApi;
let shown: string[];

const file = () => join(folder, "demo.json");

function seed(at = now) {
  return seedDemo({
    url: "http://localhost:4000",
    adminKey: api.adminKey,
    file: file(),
    now: at,
    showProgress: (text) => shown.push(text),
    fetch: api.fetch,
    wait: async () => api.computeOneReport(),
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "seed-demo-"));
  ({ api, shown } = first);
  first.instructions = await seed();
  first.demoFile = await readFile(file(), "utf8");
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "seed-demo-"));
  await writeFile(file(), first.demoFile);
  api = first.api.copy();
  shown = [];
});
afterEach(() => rm(folder, { recursive: true }));

describe("seedDemo", () => {
  it("gives the location a catalogue that has every product of its tills", () => {
    const known = new Set(api.catalog?.products.map(({ id }) => id));
    const rows = [...api.tills.values()].flatMap(({ orderList }) => orderList).flatMap((order) => order.productRowList);
    expect(rows.length).toBeGreaterThan(1_000);
    expect(rows.filter(({ productId }) => productId !== null && !known.has(productId))).toEqual([]);
  });

  it("leaves alone a catalogue that is there", async () => {
    api.catalog = catalogExample;
    await seed();
    expect(api.catalog).toBe(catalogExample);
  });

  it("allows what is new to a consumer that an older version made", async () => {
    api.catalog = null;
    api.setScopes(["reports:read", "tills:read", "tills:write", "catalog:read"]);
    await seed();
    expect(api.writes.map((call) => call.replace(/[\da-f-]{36}/, "{id}"))).toEqual([
      "PATCH /v1/consumers/{id}",
      "PUT /v1/catalog",
    ]);
  });

  it("gives out a key with which every operation of the public reference can be tried", async () => {
    const document = await readFile(new URL("../../contracts/openapi.json", import.meta.url), "utf8");
    const needed = new Set([...document.matchAll(/Scope: `([a-z:]+)`/g)].map(([, scope]) => scope));
    expect(needed).toContain("webhooks:write");
    expect(api.scopes).toEqual(expect.arrayContaining([...needed]));
  });

  it("makes a location with thirty tills, and tells how to read them", async () => {
    const { instructions } = first;
    expect(api.tills.size).toBe(30);
    expect(api.locations).toHaveLength(1);
    const { locationId, apiKey } = JSON.parse(await readFile(file(), "utf8"));
    expect(api.locations[0]).toMatchObject({ id: locationId, name: expect.any(String) });
    expect(instructions).toContain(locationId);
    expect(instructions).toContain(apiKey);
    const newest = api.reports.find(({ startedAt }) => startedAt === "2026-06-14T06:00:00.000Z");
    const curls = instructions.split("\n").filter((line) => line.startsWith("curl "));
    expect(curls).toEqual([
      `curl -H 'authorization: Bearer ${apiKey}' 'http://localhost:4000/v2/reports/'`,
      `curl -H 'authorization: Bearer ${apiKey}' 'http://localhost:4000/v2/reports/${newest?.id}'`,
      "curl 'http://localhost:4000/health/'",
    ]);
    expect(first.shown).toContain("Pushing tills: 30 of 30");
    expect(first.shown.some((text) => text.startsWith("Computing reports: "))).toBe(true);
  });

  it("finds everything again, and makes nothing new", async () => {
    expect(await seed()).toBe(first.instructions);
    expect(api.writes).toEqual([]);
  });

  it("adds the day that is new the day after", async () => {
    await seed(new Date("2026-06-16T12:00:00.000Z"));
    expect(api.writes).toEqual(["POST /v2/tills"]);
  });

  it.each([
    ["lost", () => rm(file())],
    ["broken", () => writeFile(file(), "{")],
    ["of a key that was revoked", async () => api.revokeKeys()],
  ])("finds the location again and makes a new key when the file is %s", async (_, break_) => {
    await break_();
    const instructions = await seed();
    expect(api.locations).toHaveLength(1);
    expect(api.writes).not.toContain("POST /v2/tills");
    expect(instructions).toContain(JSON.parse(await readFile(file(), "utf8")).apiKey);
  });

  it("leaves alone a till that is there with other content", async () => {
    api.refuseTills = true;
    const [oldest = ""] = api.tills.keys();
    api.tills.delete(oldest);
    await expect(seed()).resolves.toContain("Demo location");
    expect(api.writes).toEqual(["POST /v2/tills"]);
    expect(api.tills.has(oldest)).toBe(false);
  });

  it("tries again while the API is busy or cannot be reached", async () => {
    api.faults = ["service_unavailable", "unreachable", "rate_limited"];
    await expect(seed()).resolves.toContain("Demo location");
    expect(api.faults).toEqual([]);
  });

  it("gives up with the API's reason when a call is refused", async () => {
    api.adminKey = "another";
    await expect(
      seedDemo({
        url: "http://localhost:4000",
        adminKey: "wrong",
        file: file(),
        now,
        showProgress: () => {},
        fetch: api.fetch,
      }),
    ).rejects.toThrow("GET /v1/consumers?size=100 answered 401: The API key is invalid");
  });

  it("gives up when reports stop coming, and says how many there are", async () => {
    api.reports.length = 0;
    api.maxReports = 12;
    await expect(seed()).rejects.toThrow("Only 12 of 30 reports can be read");
  });
});
