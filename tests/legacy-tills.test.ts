import { randomInt, randomUUID } from "node:crypto";
import type { Problem } from "@pragma/contracts/errors";
import type { FetchedLegacyTills, LegacyTill } from "@pragma/contracts/legacy-till";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newTillV1 } from "./contract/new-till.ts";
import { type LegacyBackoffice, type LegacyFault, startLegacyBackoffice } from "./harness/legacy-backoffice.ts";
import { legacyVariables } from "./harness/legacy-variables.ts";
import { type Product, startProduct } from "./harness/product.ts";
import { openShop, type Shop } from "./harness/shop.ts";

let environment: TestEnvironment;
let backoffice: LegacyBackoffice;
let product: Product;
let shop: Shop;

beforeAll(async () => {
  backoffice = await startLegacyBackoffice({ largestPage: 20 });
  environment = await createTestEnvironment(legacyVariables(backoffice));
  product = await startProduct(environment.variables);
}, 120_000);
afterAll(async () => {
  await product?.stop();
  await backoffice?.stop();
  await environment?.remove();
});
beforeEach(async () => {
  shop = await openShop(product);
  for (const part of [backoffice.tills, backoffice.faults, backoffice.faultyPages, backoffice.asked]) part.clear();
});

let lastServerId = 0;

/** A till of a location in the backoffice. */
function put(of: { application: string; legacyId: number }, fault?: LegacyFault): number {
  lastServerId += 1;
  const till = newTillV1(of);
  backoffice.tills.set(lastServerId, { ...till, tillJson: { ...till.tillJson, server_id: lastServerId } });
  if (fault) backoffice.faults.set(lastServerId, fault);
  return lastServerId;
}
const putMany = (count: number, fault?: LegacyFault) => Array.from({ length: count }, () => put(shop, fault));

const wantedOf = (serverIds: number[]) =>
  serverIds.map((serverId) => ({ application: "popina", serverId, legacyId: shop.legacyId }));

async function fetchTills(body?: unknown, key = shop.key): Promise<FetchedLegacyTills[]> {
  const answer = await shop.ask("POST", "/v1/tills/legacy", { key, ...(body !== undefined && { body }) });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return JSON.parse(text);
}

const timesAsked = (serverIds: number[]) => serverIds.map((serverId) => backoffice.asked.get(serverId) ?? 0);
const refusalOf = async (answer: Response) => (await answer.json()) as Problem;

describe("the tills of a legacy backoffice", () => {
  it("are fetched but for those that cannot be had, of which the reply says why; a second call brings the rest", async () => {
    const there = putMany(5);
    for (const serverId of there) {
      const pushed = await shop.ask("POST", "/v1/tills", { body: backoffice.tills.get(serverId) });
      expect(pushed.status).toBe(201);
    }
    const sound = putMany(30);
    const late = putMany(5, "no answer");
    const broken = putMany(5, "error");
    const invalid = putMany(5, "invalid");

    const [first, ...others] = await fetchTills();
    expect(others).toEqual([]);
    expect(first?.locationId).toBe(shop.locationId);
    expect(first?.success.sort()).toEqual([...there, ...sound].sort());
    const reasons = new Map(first?.errors.map(({ serverId, message }) => [serverId, message]));
    expect(reasons.size).toBe(15);
    for (const serverId of late) expect(reasons.get(serverId)).toMatch(/did not answer within 1 s/);
    for (const serverId of broken) expect(reasons.get(serverId)).toMatch(/answered 500/);
    for (const serverId of invalid) expect(reasons.get(serverId)).toMatch(/not valid.*client_id/);
    expect(timesAsked(there)).toEqual(there.map(() => 0));

    backoffice.faults.clear();
    const [second] = await fetchTills();
    expect(second).toMatchObject({ locationId: shop.locationId, errors: [] });
    expect(second?.success).toHaveLength(50);
    expect(timesAsked(sound)).toEqual(sound.map(() => 1));
    expect(timesAsked(late)).toEqual(late.map(() => 2));
    expect(await shop.reports(50)).toHaveLength(50);
  }, 60_000);

  it("are listed through all pages, those of the key's location only", async () => {
    const own = putMany(45);
    const other = put({ application: "popina", legacyId: randomInt(1, 2 ** 30) });
    const listed = await shop.read<LegacyTill[]>("/v1/tills/legacy");
    expect(listed).toEqual(own.map((serverId) => ({ application: "POPINA", serverId, legacyId: shop.legacyId })));
    const answer = await shop.ask("GET", "/v1/tills/legacy?application=POPINA", { key: product.adminKey });
    const all = (await answer.json()) as LegacyTill[];
    expect(all.map(({ serverId }) => serverId)).toEqual([...own, other]);
  });

  it("are fetched as the body lists them, each once", async () => {
    const [wanted = 0, notWanted = 0] = putMany(2);
    expect(await fetchTills(wantedOf([wanted, wanted]))).toEqual([
      { locationId: shop.locationId, success: [wanted], errors: [] },
    ]);
    expect(timesAsked([wanted, notWanted])).toEqual([1, 0]);
  });

  it("are fetched for many locations by an operator, also where one is not known here", async () => {
    const second = await openShop(product);
    const nowhere = randomInt(1, 2 ** 30);
    const [one, two, lost] = [put(shop), put(second), put({ application: "popina", legacyId: nowhere })];
    const listed = await shop.ask("GET", "/v1/tills/legacy?application=POPINA", { key: product.adminKey });
    const fetched = await fetchTills(await listed.json(), product.adminKey);
    expect(fetched).toEqual([
      { locationId: shop.locationId, success: [one], errors: [] },
      { locationId: second.locationId, success: [two], errors: [] },
      { locationId: null, success: [], errors: [{ serverId: lost, message: expect.stringMatching(/no location/) }] },
    ]);
  });

  it.each([
    ["redirect", /answered 302/],
    ["other till", /another till/],
    ["broken off", /broke off/],
    ["endless", /more than \d+ bytes|within 1 s/],
  ] as const)("are refused one by one: %s", async (fault, why) => {
    const [bad = 0, good = 0] = [...putMany(1, fault), ...putMany(1)];
    const [fetched] = await fetchTills(wantedOf([bad, good]));
    expect(fetched?.success).toEqual([good]);
    expect(fetched?.errors).toEqual([{ serverId: bad, message: expect.stringMatching(why) }]);
  });

  it("are refused one by one: an id that other content has, a till of another location, one that is not there", async () => {
    const [taken = 0, elsewhere = 0] = putMany(2);
    const till = backoffice.tills.get(taken);
    const clientId = till?.tillJson.client_id ?? randomUUID();
    expect((await shop.ask("POST", "/v1/tills", { body: newTillV1(shop, clientId) })).status).toBe(201);
    const moved = backoffice.tills.get(elsewhere);
    if (moved) backoffice.tills.set(elsewhere, { ...moved, legacyId: moved.legacyId === 1 ? 2 : 1 });
    const absent = lastServerId + 1_000;
    const [fetched] = await fetchTills(wantedOf([taken, elsewhere, absent]));
    expect(fetched?.success).toEqual([]);
    expect(fetched?.errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/id is taken/),
      expect.stringMatching(/another location/),
      expect.stringMatching(/answered 404/),
    ]);
  });
});

describe("a legacy backoffice", () => {
  it("that is not configured is said to be so", async () => {
    const jalia = await openShop(product, { application: "JALIA" });
    for (const method of ["GET", "POST"]) {
      const answer = await jalia.ask(method, "/v1/tills/legacy");
      expect(answer.status).toBe(503);
      const { code, detail } = await refusalOf(answer);
      expect(code).toBe("legacy_not_configured");
      expect(detail).toMatch(/LEGACY_JALIA_URL/);
    }
  });

  it("whose list cannot be had is said to be away", async () => {
    putMany(45);
    backoffice.faultyPages.add(2);
    for (const method of ["GET", "POST"]) {
      const answer = await shop.ask(method, "/v1/tills/legacy");
      expect(answer.status).toBe(502);
      expect((await refusalOf(answer)).code).toBe("legacy_unavailable");
    }
    expect(backoffice.asked.size).toBe(0);
  });

  it("of another application, and tills of another location, are not for a location's key", async () => {
    const answers = [
      await shop.ask("GET", "/v1/tills/legacy?application=JALIA"),
      await shop.ask("POST", "/v1/tills/legacy", {
        body: [{ application: "POPINA", serverId: 1, legacyId: shop.legacyId === 1 ? 2 : 1 }],
      }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(403);
      expect((await refusalOf(answer)).code).toBe("location_forbidden");
    }
  });
});
