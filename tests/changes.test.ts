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

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "10000", RATE_LIMIT_BURST: "10000" },
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? "fatal",
  });
  product = await startPragmaUnderTest(environment.variables, { split: [...splitServices] });
  location = await createTestLocation(product);
}, 120_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

const pick = <Item>(items: readonly Item[]): Item => items[randomInt(items.length)] ?? expect.unreachable("not empty");

/** Sends a request until it succeeds or is rejected, because processes are killed meanwhile. */
async function requestWithRetries(method: string, path: string, body?: unknown): Promise<Response> {
  for (;;) {
    try {
      const response = await location.request(method, path, body === undefined ? {} : { body });
      if (response.status < 500) return response;
    } catch {
      // The connection was lost.
    }
    await sleep(50);
  }
}

type Till = ReturnType<typeof generateTill>;

/** Pushes, replaces, reprocesses and erases random tills until the time is over. Tills share some of their orders. */
async function writeTills(until: number): Promise<number> {
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
      expect((await requestWithRetries("POST", "/v2/tills/", pushed)).status).toBeLessThan(300);
      tills.push(pushed);
    } else if (randomInt(3) > 0) {
      // Some orders leave the till, or return to it. Now and then, the till is in training mode.
      const orderList = till.orderList.filter(() => randomInt(4) > 0);
      const replacement = { ...till, orderList, isTraining: randomInt(6) === 0 };
      expect((await requestWithRetries("PUT", `/v1/tills/${till.id}`, replacement)).status).toBeLessThan(300);
    } else if (randomInt(2) === 0) {
      expect((await requestWithRetries("POST", `/v1/tills/${till.id}/reprocess`)).status).toBeLessThan(300);
    } else {
      const erasure = { locationId: location.locationId, orderIds: till.orderList.map(({ id }) => id) };
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
  #cursor: string | undefined;

  /** Follows the feed until the signal is aborted. Is killed at random before it has stored a page. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const after = this.#cursor ? `&after=${this.#cursor}` : "";
      const response = await requestWithRetries(
        "GET",
        `/v1/changes/?types=report,order&size=${randomInt(1, 200)}&wait=2${after}`,
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
    const response = await requestWithRetries("GET", pathname);
    return response.status === 404 ? undefined : response.json();
  }
}

/** Returns all reports and orders that the lists of the API contain, each as its operation returns it. */
async function readLists(): Promise<Map<string, unknown>> {
  const state = new Map<string, unknown>();
  for (const [type, list, path] of [
    ["report", "/v2/reports/", "/v2/reports/"],
    ["order", "/v1/orders/", "/v2/orders/"],
  ] as const) {
    for (let token = ""; ; ) {
      const query = token && `&pageToken=${encodeURIComponent(token)}`;
      const page = await location.getJson<{ data: { id: string }[]; nextPageToken: string | null }>(
        `${list}?size=100${query}`,
      );
      for (const { id } of page.data) state.set(`${type} ${id}`, await location.getJson(`${path}${id}`));
      if (page.nextPageToken === null) break;
      token = page.nextPageToken;
    }
  }
  return state;
}

const toSortedObject = (state: Map<string, unknown>) => Object.fromEntries([...state].sort());

it(
  "lets a follower that is killed at random keep a copy that equals the lists, entry by entry",
  async () => {
    const stopping = new AbortController();
    const followers = [new Follower(), new Follower()];
    const following = Promise.all(followers.map((follower) => follower.follow(stopping.signal)));
    const until = Date.now() + seconds * 1_000;
    try {
      const writing = Promise.all(Array.from({ length: writerCount }, () => writeTills(until)));
      const [writes] = await Promise.race([
        Promise.all([writing, killServices(until)]),
        following.then(() => expect.unreachable("the followers run until they are stopped")),
      ]);
      expect(writes.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(writerCount);
      // The services still compute the last revisions.
      let lists = new Map<string, unknown>();
      await eventually(
        "copies that equal the lists",
        async () => {
          const before = JSON.stringify(toSortedObject(lists));
          lists = await readLists();
          return (
            JSON.stringify(toSortedObject(lists)) === before &&
            followers.every(({ copy }) => JSON.stringify(toSortedObject(copy)) === before)
          );
        },
        { timeoutSeconds: 60 },
      ).catch(() => undefined);
      for (const { copy } of followers) expect(toSortedObject(copy)).toEqual(toSortedObject(lists));
      expect(lists.size).toBeGreaterThan(0);
      // A longer run certainly contains all kinds of changes.
      if (seconds > 5)
        for (const { actions } of followers)
          expect([...actions.keys()].sort()).toEqual(["created", "erased", "removed", "replaced"]);
    } finally {
      stopping.abort();
      await following;
    }
    // One that begins now gets the last change of each thing.
    const late = new Follower();
    const lateStopping = new AbortController();
    const lateFollowing = late.follow(lateStopping.signal);
    const expected = toSortedObject(await readLists());
    await eventually("the late copy", () => late.copy.size >= Object.keys(expected).length, { timeoutSeconds: 30 });
    lateStopping.abort();
    await lateFollowing;
    expect(toSortedObject(late.copy)).toEqual(expected);
  },
  (seconds + 180) * 1_000,
);
