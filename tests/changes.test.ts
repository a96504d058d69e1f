import { randomInt, randomUUID } from "node:crypto";
import type { Change, ChangePage } from "@pragma/contracts/changes";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/** Seconds for which tills are written. `CHANGES_SECONDS` sets a longer run: `npm run test:soak`. */
const seconds = Number(process.env.CHANGES_SECONDS ?? 5);
const writerCount = seconds > 5 ? 8 : 3;
const splitServices = ["accounts", "till-ingest", "reporting", "webhooks"] as const;
const killedServices = ["till-ingest", "reporting", "webhooks"] as const;

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let location: TestLocation;
let otherLocation: TestLocation;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "10000", RATE_LIMIT_BURST: "10000" },
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? "fatal",
  });
  product = await startPragmaUnderTest(environment.variables, { split: [...splitServices] });
  [location, otherLocation] = await Promise.all([createTestLocation(product), createTestLocation(product)]);
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

const pick = <Item>(items: readonly Item[]): Item => items[randomInt(items.length)] ?? expect.unreachable("not empty");

interface RequestOptions {
  key: string;
  body?: unknown;
}

/** Sends a request until it succeeds or is rejected, because processes are killed meanwhile. */
async function requestWithRetries(method: string, path: string, options: RequestOptions): Promise<Response> {
  for (;;) {
    try {
      const response = await location.request(method, path, options);
      if (response.status < 500) return response;
    } catch {
      // The connection was lost.
    }
    await sleep(50);
  }
}

type Till = ReturnType<typeof generateTill>;

/**
 * Pushes, replaces, reprocesses and erases random tills until the time is over, and adds their ids to `writtenTillIds`.
 * Tills share some of their orders.
 */
async function writeTills(
  { key, locationId }: TestLocation,
  { until, writtenTillIds }: { until: number; writtenTillIds: Set<string> },
): Promise<number> {
  const tills: Till[] = [];
  let writes = 0;
  while (Date.now() < until) {
    const till = tills.length === 0 || randomInt(3) === 0 ? undefined : pick(tills);
    if (!till) {
      const pushed = generateTill({ seed: 5, tillId: randomUUID(), orders: 4, day: "2026-04-01" });
      // An order of an earlier till belongs to this one from now on.
      const shared = tills.length > 0 && randomInt(2) === 0 ? pick(tills).orderList.slice(0, 1) : [];
      pushed.orderList.push(...shared);
      for (const order of pushed.orderList) order.firebaseCustomerName = `Ada ${randomUUID()}`;
      expect((await requestWithRetries("POST", "/v2/tills/", { key, body: pushed })).status).toBeLessThan(300);
      tills.push(pushed);
      writtenTillIds.add(pushed.id);
    } else if (randomInt(3) > 0) {
      // Some orders leave the till, or return to it. Now and then, the till is in training mode.
      const orderList = till.orderList.filter(() => randomInt(4) > 0);
      const replacement = { ...till, orderList, isTraining: randomInt(6) === 0 };
      const response = await requestWithRetries("PUT", `/v1/tills/${till.id}`, { key, body: replacement });
      expect(response.status).toBeLessThan(300);
    } else if (randomInt(2) === 0) {
      expect((await requestWithRetries("POST", `/v1/tills/${till.id}/reprocess`, { key })).status).toBeLessThan(300);
    } else {
      const erasure = { locationId, orderIds: till.orderList.map(({ id }) => id) };
      // Fails while reporting is not running or is starting.
      await fetch(`${product.process("reporting").opsUrl}/reporting/erasures`, {
        ...{ method: "POST", body: JSON.stringify(erasure), headers: { "content-type": "application/json" } },
      }).catch(() => undefined);
    }
    writes += 1;
    await sleep(randomInt(60));
  }
  return writes;
}

async function killServices(until: number): Promise<void> {
  while (Date.now() < until) {
    await sleep(randomInt(500, 1_500));
    const service = product.process(pick(killedServices));
    await service.kill();
    await service.start();
  }
}

/** A copy of reports and orders, which is stored together with the cursor, as a client stores both in its database. */
class Follower {
  readonly copy = new Map<string, unknown>();
  readonly actions = new Map<string, number>();
  readonly #key: string;
  readonly #query: string;
  #cursor: string | undefined;

  /** `query` selects the feed that the key follows. */
  constructor(key: string, query = "") {
    this.#key = key;
    this.#query = query;
  }

  /** Follows the feed until the signal is aborted. Is killed at random before it has stored a page. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const after = this.#cursor ? `&after=${this.#cursor}` : "";
      const response = await requestWithRetries(
        "GET",
        `/v1/changes/?types=report,order&size=${randomInt(1, 200)}&wait=2${this.#query}${after}`,
        { key: this.#key },
      );
      expect(response.status).toBe(200);
      const page = (await response.json()) as ChangePage;
      const values = await Promise.all(page.data.map((change) => this.#fetch(change)));
      if (randomInt(10) === 0) continue;
      for (const [index, { type, id, action }] of page.data.entries()) {
        this.actions.set(action, (this.actions.get(action) ?? 0) + 1);
        if (values[index] === undefined) this.copy.delete(`${type} ${id}`);
        else this.copy.set(`${type} ${id}`, values[index]);
      }
      this.#cursor = page.nextCursor;
    }
  }

  async #fetch({ action, href }: Change): Promise<unknown> {
    if (action === "removed") return undefined;
    const { pathname } = new URL(href);
    const response = await requestWithRetries("GET", pathname, { key: this.#key });
    return response.status === 404 ? undefined : response.json();
  }
}

/** Returns all reports and orders that the lists of a location contain, each as its operation returns it. */
async function readLists({ getJson }: TestLocation): Promise<Map<string, unknown>> {
  const state = new Map<string, unknown>();
  for (const [type, list, path] of [
    ["report", "/v2/reports/", "/v2/reports/"],
    ["order", "/v1/orders/", "/v2/orders/"],
  ] as const) {
    for (let token = ""; ; ) {
      const query = token && `&pageToken=${encodeURIComponent(token)}`;
      const page = await getJson<{ data: { id: string }[]; nextPageToken: string | null }>(`${list}?size=100${query}`);
      for (const { id } of page.data) state.set(`${type} ${id}`, await getJson(`${path}${id}`));
      if (page.nextPageToken === null) break;
      token = page.nextPageToken;
    }
  }
  return state;
}

/** Returns whether the report of a till was computed, so that its lists do not change by themselves any more. */
async function isTillSettled(id: string): Promise<boolean> {
  const response = await requestWithRetries("GET", `/v1/tills/${id}`, { key: product.adminKey });
  if (response.status === 404) return true;
  return ((await response.json()) as { reportState: string }).reportState !== "pending";
}

/** Returns the lists of the location, and those of all locations. */
async function readAllLists(): Promise<Map<string, unknown>[]> {
  const lists = [await readLists(location), await readLists(otherLocation)] as const;
  return [lists[0], new Map([...lists[0], ...lists[1]])];
}

const toSortedObject = (state: Map<string, unknown>) => Object.fromEntries([...state].sort());

it(
  "lets followers of one and of all locations that are killed at random keep copies that equal the lists",
  async () => {
    const stopping = new AbortController();
    const allLocations = [product.adminKey, "&allLocations=true"] as const;
    const followers = [new Follower(location.key), new Follower(...allLocations)];
    const following = Promise.all(followers.map((follower) => follower.follow(stopping.signal)));
    const until = Date.now() + seconds * 1_000;
    try {
      const writtenTillIds = new Set<string>();
      const writing = Promise.all(
        Array.from({ length: writerCount }, (_, index) =>
          writeTills(index % 3 === 2 ? otherLocation : location, { until, writtenTillIds }),
        ),
      );
      const [writes] = await Promise.race([
        Promise.all([writing, killServices(until)]),
        following.then(() => expect.unreachable("the followers run until they are stopped")),
      ]);
      expect(writes.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(writerCount);
      // The services still compute the last revisions. A message that a killed service had received is sent again later.
      await eventually(
        "the reports of all tills",
        async () => {
          for (const id of writtenTillIds) {
            if (await isTillSettled(id)) writtenTillIds.delete(id);
            else return false;
          }
          return true;
        },
        { timeoutSeconds: 90 },
      );
      const describeStates = (states: Map<string, unknown>[]) => JSON.stringify(states.map(toSortedObject));
      let lists: Map<string, unknown>[] = [];
      await eventually(
        "copies that equal the lists",
        async () => {
          const before = describeStates(lists);
          lists = await readAllLists();
          return describeStates(lists) === before && describeStates(followers.map(({ copy }) => copy)) === before;
        },
        { timeoutSeconds: 60 },
      ).catch(() => undefined);
      expect(followers.map(({ copy }) => toSortedObject(copy))).toEqual(lists.map(toSortedObject));
      expect(lists[0]?.size).toBeGreaterThan(0);
      expect(lists[1]?.size).toBeGreaterThan(lists[0]?.size ?? 0);
      // A longer run certainly contains all kinds of changes.
      if (seconds > 5)
        for (const { actions } of followers)
          expect([...actions.keys()].sort()).toEqual(["created", "erased", "removed", "replaced"]);
    } finally {
      stopping.abort();
      await following;
    }
    // One that begins now gets the last change of each thing.
    const expected = await readAllLists();
    for (const [index, late] of [new Follower(location.key), new Follower(...allLocations)].entries()) {
      const lateStopping = new AbortController();
      const lateFollowing = late.follow(lateStopping.signal);
      const size = expected[index]?.size ?? 0;
      await eventually("the late copy", () => late.copy.size >= size, { timeoutSeconds: 30 }).finally(() =>
        lateStopping.abort(),
      );
      await lateFollowing;
      expect(toSortedObject(late.copy)).toEqual(toSortedObject(expected[index] ?? new Map()));
    }
  },
  (seconds + 270) * 1_000,
);
