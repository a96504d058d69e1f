import { randomInt, randomUUID } from "node:crypto";
import type { LegacyFetchResults, LegacyTill } from "@pragma/contracts/legacy-till";
import type { Problem } from "@pragma/contracts/problem";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildContractTestTillV1 } from "./contract/order-and-till-inputs.ts";
import {
  buildFakeLegacyBackofficeVariables,
  type FakeBackofficeFault,
  type FakeLegacyBackoffice,
  startFakeLegacyBackoffice,
} from "./harness/fake-legacy-backoffice.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: IsolatedTestEnvironment;
let backoffice: FakeLegacyBackoffice;
let product: PragmaUnderTest;
let testLocation: TestLocation;

beforeAll(async () => {
  backoffice = await startFakeLegacyBackoffice({ maxPageSize: 20 });
  environment = await createMigratedTestEnvironment(buildFakeLegacyBackofficeVariables(backoffice));
  product = await startPragmaUnderTest(environment.variables);
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await backoffice?.stop();
  await environment?.remove();
});
beforeEach(async () => {
  testLocation = await createTestLocation(product);
  for (const part of [backoffice.tills, backoffice.faults, backoffice.faultyPages, backoffice.requestCountByServerId])
    part.clear();
});

let lastServerId = 0;

/** Adds a till of a location to the fake backoffice, and returns the server id of the till. */
function addLegacyTill(location: { application: string; legacyId: number }, fault?: FakeBackofficeFault): number {
  lastServerId += 1;
  const till = buildContractTestTillV1(location);
  backoffice.tills.set(lastServerId, { ...till, tillJson: { ...till.tillJson, server_id: lastServerId } });
  if (fault) backoffice.faults.set(lastServerId, fault);
  return lastServerId;
}
const addLegacyTills = (count: number, fault?: FakeBackofficeFault) =>
  Array.from({ length: count }, () => addLegacyTill(testLocation, fault));

const tillsToFetch = (serverIds: number[]) =>
  serverIds.map((serverId) => ({ application: "popina", serverId, legacyId: testLocation.legacyId }));

async function fetchTills(body?: unknown, key = testLocation.key): Promise<LegacyFetchResults[]> {
  const response = await testLocation.request("POST", "/v1/tills/legacy", { key, ...(body !== undefined && { body }) });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text);
}

const requestCounts = (serverIds: number[]) =>
  serverIds.map((serverId) => backoffice.requestCountByServerId.get(serverId) ?? 0);
const readProblem = async (response: Response) => (await response.json()) as Problem;

describe("the tills of a legacy backoffice", () => {
  it("are fetched with an error for each till that fails, and the next call fetches the remaining tills", async () => {
    const alreadyPushed = addLegacyTills(5);
    for (const serverId of alreadyPushed) {
      const pushed = await testLocation.request("POST", "/v1/tills", { body: backoffice.tills.get(serverId) });
      expect(pushed.status).toBe(201);
    }
    const valid = addLegacyTills(30);
    const unresponsive = addLegacyTills(5, "timeout");
    const failing = addLegacyTills(5, "error");
    const invalid = addLegacyTills(5, "invalid");

    const [first, ...others] = await fetchTills();
    expect(others).toEqual([]);
    expect(first?.locationId).toBe(testLocation.locationId);
    expect(first?.success.sort()).toEqual([...alreadyPushed, ...valid].sort());
    const reasons = new Map(first?.errors.map(({ serverId, message }) => [serverId, message]));
    expect(reasons.size).toBe(15);
    for (const serverId of unresponsive) expect(reasons.get(serverId)).toMatch(/did not respond within 1 s/);
    for (const serverId of failing) expect(reasons.get(serverId)).toMatch(/responded with status 500/);
    for (const serverId of invalid) expect(reasons.get(serverId)).toMatch(/is invalid.*client_id/);
    expect(requestCounts(alreadyPushed)).toEqual(alreadyPushed.map(() => 0));

    backoffice.faults.clear();
    const [second] = await fetchTills();
    expect(second).toMatchObject({ locationId: testLocation.locationId, errors: [] });
    expect(second?.success).toHaveLength(50);
    expect(requestCounts(valid)).toEqual(valid.map(() => 1));
    expect(requestCounts(unresponsive)).toEqual(unresponsive.map(() => 2));
    expect(await testLocation.waitForReports(50)).toHaveLength(50);
  }, 60_000);

  it("are listed from all pages, for the location of the key only", async () => {
    const own = addLegacyTills(45);
    const other = addLegacyTill({ application: "popina", legacyId: randomInt(1, 2 ** 30) });
    const listed = await testLocation.getJson<LegacyTill[]>("/v1/tills/legacy");
    expect(listed).toEqual(
      own.map((serverId) => ({ application: "POPINA", serverId, legacyId: testLocation.legacyId })),
    );
    const response = await testLocation.request("GET", "/v1/tills/legacy?application=POPINA", {
      key: product.adminKey,
    });
    const all = (await response.json()) as LegacyTill[];
    expect(all.map(({ serverId }) => serverId)).toEqual([...own, other]);
  });

  it("are fetched once each when the body lists them", async () => {
    const [listedId = 0, unlistedId = 0] = addLegacyTills(2);
    expect(await fetchTills(tillsToFetch([listedId, listedId]))).toEqual([
      { locationId: testLocation.locationId, success: [listedId], errors: [] },
    ]);
    expect(requestCounts([listedId, unlistedId])).toEqual([1, 0]);
  });

  it("are fetched by an operator for many locations, including unknown locations", async () => {
    const second = await createTestLocation(product);
    const unknownLegacyId = randomInt(1, 2 ** 30);
    const [one, two, ofUnknownLocation] = [
      addLegacyTill(testLocation),
      addLegacyTill(second),
      addLegacyTill({ application: "popina", legacyId: unknownLegacyId }),
    ];
    const listed = await testLocation.request("GET", "/v1/tills/legacy?application=POPINA", { key: product.adminKey });
    const fetched = await fetchTills(await listed.json(), product.adminKey);
    expect(fetched).toEqual([
      { locationId: testLocation.locationId, success: [one], errors: [] },
      { locationId: second.locationId, success: [two], errors: [] },
      {
        locationId: null,
        success: [],
        errors: [{ serverId: ofUnknownLocation, message: expect.stringMatching(/^No \w+ location/) }],
      },
    ]);
  });

  it.each([
    ["redirect", /responded with status 302/],
    ["wrong till", /instead of the requested till/],
    ["connection reset", /closed the connection/],
    ["endless", /more than \d+ bytes|within 1 s/],
  ] as const)("fail separately: %s", async (fault, expectedMessage) => {
    const [failingTill = 0, validTill = 0] = [...addLegacyTills(1, fault), ...addLegacyTills(1)];
    const [fetched] = await fetchTills(tillsToFetch([failingTill, validTill]));
    expect(fetched?.success).toEqual([validTill]);
    expect(fetched?.errors).toEqual([{ serverId: failingTill, message: expect.stringMatching(expectedMessage) }]);
  });

  it("fail separately: a conflicting id, a till of another location, a missing till", async () => {
    const [conflicting = 0, ofOtherLocation = 0] = addLegacyTills(2);
    const till = backoffice.tills.get(conflicting);
    const clientId = till?.tillJson.client_id ?? randomUUID();
    expect(
      (await testLocation.request("POST", "/v1/tills", { body: buildContractTestTillV1(testLocation, clientId) }))
        .status,
    ).toBe(201);
    const moved = backoffice.tills.get(ofOtherLocation);
    if (moved) backoffice.tills.set(ofOtherLocation, { ...moved, legacyId: moved.legacyId === 1 ? 2 : 1 });
    const missing = lastServerId + 1_000;
    const [fetched] = await fetchTills(tillsToFetch([conflicting, ofOtherLocation, missing]));
    expect(fetched?.success).toEqual([]);
    expect(fetched?.errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/ID is already in use/),
      expect.stringMatching(/different location/),
      expect.stringMatching(/status 404/),
    ]);
  });
});

describe("a legacy backoffice", () => {
  it("that is not configured returns legacy_not_configured", async () => {
    const jalia = await createTestLocation(product, { application: "JALIA" });
    for (const method of ["GET", "POST"]) {
      const response = await jalia.request(method, "/v1/tills/legacy");
      expect(response.status).toBe(503);
      const { code, detail } = await readProblem(response);
      expect(code).toBe("legacy_not_configured");
      expect(detail).toMatch(/LEGACY_JALIA_URL/);
    }
  });

  it("whose list fails returns legacy_unavailable", async () => {
    addLegacyTills(45);
    backoffice.faultyPages.add(2);
    for (const method of ["GET", "POST"]) {
      const response = await testLocation.request(method, "/v1/tills/legacy");
      expect(response.status).toBe(502);
      expect((await readProblem(response)).code).toBe("legacy_unavailable");
    }
    expect(backoffice.requestCountByServerId.size).toBe(0);
  });

  it("of another application, and its tills of another location, are forbidden to a location's key", async () => {
    const responses = [
      await testLocation.request("GET", "/v1/tills/legacy?application=JALIA"),
      await testLocation.request("POST", "/v1/tills/legacy", {
        body: [{ application: "POPINA", serverId: 1, legacyId: testLocation.legacyId === 1 ? 2 : 1 }],
      }),
    ];
    for (const response of responses) {
      expect(response.status).toBe(403);
      expect((await readProblem(response)).code).toBe("location_forbidden");
    }
  });
});
