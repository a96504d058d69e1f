import { randomInt, randomUUID } from "node:crypto";
import type { Problem } from "@pragma/contracts/errors";
import type { FetchedLegacyTills, LegacyTill } from "@pragma/contracts/legacy-till";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTillV1Input } from "./contract/till-input.ts";
import {
  type FakeLegacyBackoffice,
  type LegacyBackofficeFault,
  startFakeLegacyBackoffice,
} from "./harness/fake-legacy-backoffice.ts";
import { legacyBackofficeVariables } from "./harness/legacy-variables.ts";
import { type ProductUnderTest, startProductUnderTest } from "./harness/product-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: TestEnvironment;
let backoffice: FakeLegacyBackoffice;
let product: ProductUnderTest;
let shop: TestLocation;

beforeAll(async () => {
  backoffice = await startFakeLegacyBackoffice({ maxPageSize: 20 });
  environment = await createTestEnvironment(legacyBackofficeVariables(backoffice));
  product = await startProductUnderTest(environment.variables);
}, 120_000);
afterAll(async () => {
  await product?.stop();
  await backoffice?.stop();
  await environment?.remove();
});
beforeEach(async () => {
  shop = await createTestLocation(product);
  for (const part of [backoffice.tills, backoffice.faults, backoffice.faultyPages, backoffice.asked]) part.clear();
});

let lastServerId = 0;

/** A till of a location in the backoffice. */
function addLegacyTill(of: { application: string; legacyId: number }, fault?: LegacyBackofficeFault): number {
  lastServerId += 1;
  const till = createTillV1Input(of);
  backoffice.tills.set(lastServerId, { ...till, tillJson: { ...till.tillJson, server_id: lastServerId } });
  if (fault) backoffice.faults.set(lastServerId, fault);
  return lastServerId;
}
const addLegacyTills = (count: number, fault?: LegacyBackofficeFault) =>
  Array.from({ length: count }, () => addLegacyTill(shop, fault));

const tillsToFetch = (serverIds: number[]) =>
  serverIds.map((serverId) => ({ application: "popina", serverId, legacyId: shop.legacyId }));

async function fetchTills(body?: unknown, key = shop.key): Promise<FetchedLegacyTills[]> {
  const answer = await shop.request("POST", "/v1/tills/legacy", { key, ...(body !== undefined && { body }) });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return JSON.parse(text);
}

const requestCounts = (serverIds: number[]) => serverIds.map((serverId) => backoffice.asked.get(serverId) ?? 0);
const readProblem = async (answer: Response) => (await answer.json()) as Problem;

describe("the tills of a legacy backoffice", () => {
  it("are fetched but for those that cannot be had, of which the reply says why; a second call brings the rest", async () => {
    const there = addLegacyTills(5);
    for (const serverId of there) {
      const pushed = await shop.request("POST", "/v1/tills", { body: backoffice.tills.get(serverId) });
      expect(pushed.status).toBe(201);
    }
    const sound = addLegacyTills(30);
    const late = addLegacyTills(5, "no answer");
    const broken = addLegacyTills(5, "error");
    const invalid = addLegacyTills(5, "invalid");

    const [first, ...others] = await fetchTills();
    expect(others).toEqual([]);
    expect(first?.locationId).toBe(shop.locationId);
    expect(first?.success.sort()).toEqual([...there, ...sound].sort());
    const reasons = new Map(first?.errors.map(({ serverId, message }) => [serverId, message]));
    expect(reasons.size).toBe(15);
    for (const serverId of late) expect(reasons.get(serverId)).toMatch(/did not respond within 1 s/);
    for (const serverId of broken) expect(reasons.get(serverId)).toMatch(/responded with status 500/);
    for (const serverId of invalid) expect(reasons.get(serverId)).toMatch(/invalid.*client_id/);
    expect(requestCounts(there)).toEqual(there.map(() => 0));

    backoffice.faults.clear();
    const [second] = await fetchTills();
    expect(second).toMatchObject({ locationId: shop.locationId, errors: [] });
    expect(second?.success).toHaveLength(50);
    expect(requestCounts(sound)).toEqual(sound.map(() => 1));
    expect(requestCounts(late)).toEqual(late.map(() => 2));
    expect(await shop.waitForReports(50)).toHaveLength(50);
  }, 60_000);

  it("are listed through all pages, those of the key's location only", async () => {
    const own = addLegacyTills(45);
    const other = addLegacyTill({ application: "popina", legacyId: randomInt(1, 2 ** 30) });
    const listed = await shop.getJson<LegacyTill[]>("/v1/tills/legacy");
    expect(listed).toEqual(own.map((serverId) => ({ application: "POPINA", serverId, legacyId: shop.legacyId })));
    const answer = await shop.request("GET", "/v1/tills/legacy?application=POPINA", { key: product.adminKey });
    const all = (await answer.json()) as LegacyTill[];
    expect(all.map(({ serverId }) => serverId)).toEqual([...own, other]);
  });

  it("are fetched as the body lists them, each once", async () => {
    const [wanted = 0, notWanted = 0] = addLegacyTills(2);
    expect(await fetchTills(tillsToFetch([wanted, wanted]))).toEqual([
      { locationId: shop.locationId, success: [wanted], errors: [] },
    ]);
    expect(requestCounts([wanted, notWanted])).toEqual([1, 0]);
  });

  it("are fetched for many locations by an operator, also where one is not known here", async () => {
    const second = await createTestLocation(product);
    const nowhere = randomInt(1, 2 ** 30);
    const [one, two, lost] = [
      addLegacyTill(shop),
      addLegacyTill(second),
      addLegacyTill({ application: "popina", legacyId: nowhere }),
    ];
    const listed = await shop.request("GET", "/v1/tills/legacy?application=POPINA", { key: product.adminKey });
    const fetched = await fetchTills(await listed.json(), product.adminKey);
    expect(fetched).toEqual([
      { locationId: shop.locationId, success: [one], errors: [] },
      { locationId: second.locationId, success: [two], errors: [] },
      { locationId: null, success: [], errors: [{ serverId: lost, message: expect.stringMatching(/no location/) }] },
    ]);
  });

  it.each([
    ["redirect", /status 302/],
    ["other till", /another till/],
    ["broken off", /closed the connection/],
    ["endless", /more than \d+ bytes|within 1 s/],
  ] as const)("are refused one by one: %s", async (fault, why) => {
    const [bad = 0, good = 0] = [...addLegacyTills(1, fault), ...addLegacyTills(1)];
    const [fetched] = await fetchTills(tillsToFetch([bad, good]));
    expect(fetched?.success).toEqual([good]);
    expect(fetched?.errors).toEqual([{ serverId: bad, message: expect.stringMatching(why) }]);
  });

  it("are refused one by one: an id that other content has, a till of another location, one that is not there", async () => {
    const [taken = 0, elsewhere = 0] = addLegacyTills(2);
    const till = backoffice.tills.get(taken);
    const clientId = till?.tillJson.client_id ?? randomUUID();
    expect((await shop.request("POST", "/v1/tills", { body: createTillV1Input(shop, clientId) })).status).toBe(201);
    const moved = backoffice.tills.get(elsewhere);
    if (moved) backoffice.tills.set(elsewhere, { ...moved, legacyId: moved.legacyId === 1 ? 2 : 1 });
    const absent = lastServerId + 1_000;
    const [fetched] = await fetchTills(tillsToFetch([taken, elsewhere, absent]));
    expect(fetched?.success).toEqual([]);
    expect(fetched?.errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/id is taken/),
      expect.stringMatching(/another location/),
      expect.stringMatching(/status 404/),
    ]);
  });
});

describe("a legacy backoffice", () => {
  it("that is not configured is said to be so", async () => {
    const jalia = await createTestLocation(product, { application: "JALIA" });
    for (const method of ["GET", "POST"]) {
      const answer = await jalia.request(method, "/v1/tills/legacy");
      expect(answer.status).toBe(503);
      const { code, detail } = await readProblem(answer);
      expect(code).toBe("legacy_not_configured");
      expect(detail).toMatch(/LEGACY_JALIA_URL/);
    }
  });

  it("whose list cannot be had is said to be away", async () => {
    addLegacyTills(45);
    backoffice.faultyPages.add(2);
    for (const method of ["GET", "POST"]) {
      const answer = await shop.request(method, "/v1/tills/legacy");
      expect(answer.status).toBe(502);
      expect((await readProblem(answer)).code).toBe("legacy_unavailable");
    }
    expect(backoffice.asked.size).toBe(0);
  });

  it("of another application, and tills of another location, are not for a location's key", async () => {
    const answers = [
      await shop.request("GET", "/v1/tills/legacy?application=JALIA"),
      await shop.request("POST", "/v1/tills/legacy", {
        body: [{ application: "POPINA", serverId: 1, legacyId: shop.legacyId === 1 ? 2 : 1 }],
      }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(403);
      expect((await readProblem(answer)).code).toBe("location_forbidden");
    }
  });
});
