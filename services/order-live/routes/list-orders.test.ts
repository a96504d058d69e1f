import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import { createTestPrincipal, type TestService } from "@pragma/runtime/testing/test-service";
import { createUnreadResponse } from "@pragma/runtime/testing/unread-response";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { changeLiveOrderInput, createLiveOrderInput, createTestProductRow } from "../testing/order-fixtures.ts";
import { createPosPrincipal, startTestOrderLive, type TestOrderLive } from "../testing/start-test-order-live.ts";

let orderLive: TestOrderLive;
const { principal, locationId } = createPosPrincipal();
const tills = [randomUUID(), randomUUID()];
/** Opened one after the other, some at the same instant: every combination of till, paid, transferred and canceled twice. */
const orders: OrderLiveInput[] = Array.from({ length: 32 }, (_, index) =>
  createLiveOrderInput(
    {
      openedAt: `2026-05-29T10:${String(10 + (index >> 1))}:00.000Z`,
      isPaid: (index & 1) > 0,
      isTransferred: (index & 2) > 0,
      isCanceled: (index & 4) > 0,
    },
    { tillId: tills[(index & 8) >> 3] ?? "" },
  ),
);
const newestFirst = (some: OrderLiveInput[]) =>
  [...some]
    .sort((one, other) => `${one.data.openedAt}${one.id}`.localeCompare(`${other.data.openedAt}${other.id}`))
    .reverse()
    .map(({ id }) => id);

beforeAll(async () => {
  orderLive = await startTestOrderLive();
  await orderLive.upsertOrders(principal, ...orders);
  await orderLive.upsertOrders(createPosPrincipal().principal, createLiveOrderInput());
});
afterAll(() => orderLive.remove());

const path = "/v1/orders-live/";
const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

describe("the list of live orders", () => {
  it("shows the location's own, newest first", async () => {
    const page = await orderLive.listOrders(principal, "?size=100");
    expect(idsOf(page)).toEqual(newestFirst(orders));
    expect(page.meta).toEqual({ totalPage: 1, totalCount: 32, currentPageIndex: 0, pageSize: 100 });
  });

  it("is the same by index and by token, with links that keep the filters", async () => {
    const wanted = newestFirst(orders.filter(({ data }) => !data.isCanceled));
    const byIndex: string[] = [];
    const byToken: string[] = [];
    for (let next: string | null = "?isCanceled=false&size=5"; next; ) {
      const page = await orderLive.listOrders(principal, next);
      expect(page.meta).toMatchObject({ totalCount: 16, totalPage: 4, currentPageIndex: byIndex.length / 5 });
      byIndex.push(...idsOf(page));
      next = page.links.next && new URL(page.links.next).search;
    }
    for (let token: string | null = ""; token !== null; ) {
      const query = token && `&pageToken=${token}`;
      const page = await orderLive.listOrders(principal, `?isCanceled=false&size=3${query}`);
      expect(page.meta.currentPageIndex).toBe(byToken.length / 3);
      byToken.push(...idsOf(page));
      token = page.nextPageToken;
    }
    expect(byIndex).toEqual(wanted);
    expect(byToken).toEqual(wanted);
  });

  describe("whose orders are large", () => {
    const { principal } = createPosPrincipal();
    const rows = (count: number) => Array.from({ length: count }, createTestProductRow);
    const large = Array.from({ length: 23 }, (_, index) =>
      createLiveOrderInput({
        openedAt: `2026-05-29T11:${10 + index}:00.000Z`,
        productRowList: rows(index === 7 ? 90 : 9),
      }),
    );
    const maxBytes = 40_000;
    let other: TestService;
    const listPage = async (query: string) => {
      const answer = await other.request("GET", `${path}${query}`, { principal });
      const text = await answer.text();
      expect(answer.status, text).toBe(200);
      const page = JSON.parse(text);
      const bytes = Buffer.byteLength(JSON.stringify(page.data));
      expect(page.data.length === 1 || bytes <= maxBytes + page.data.length + 1, `${bytes} bytes`).toBe(true);
      return page;
    };

    beforeAll(async () => {
      await orderLive.upsertOrders(principal, ...large);
      other = await orderLive.startAnotherInstance({ PAGE_MAX_BYTES: String(maxBytes) });
    });

    it("has pages that end early, and shows each order once to a client that follows the token", async () => {
      const seen: string[] = [];
      const indexes: number[] = [];
      for (let token: string | null = ""; token !== null; ) {
        const page = await listPage(`?size=10${token && `&pageToken=${token}`}`);
        expect(page.meta).toMatchObject({ totalCount: 23, totalPage: 3, pageSize: 10 });
        seen.push(...idsOf(page));
        indexes.push(...idsOf(page).map(() => page.meta.currentPageIndex));
        token = page.nextPageToken;
      }
      expect(seen).toEqual(newestFirst(large));
      // Each order is on the page of the index that it would be on if no page ended early.
      expect(indexes).toEqual(large.map((_, place) => Math.floor(place / 10)));
    });

    it("shows each order once to a client that follows links.next, and leads back to the start of the page", async () => {
      const seen: string[] = [];
      for (let next: string | null = "?size=10"; next; ) {
        const page = await listPage(next);
        seen.push(...idsOf(page));
        next = page.links.next && new URL(page.links.next).search;
      }
      expect(seen).toEqual(newestFirst(large));
      const cut = await listPage("?size=10&index=1");
      expect(cut.data.length).toBeLessThan(10);
      const rest = await listPage(new URL(cut.links.next).search);
      expect(idsOf(await listPage(new URL(rest.links.prev).search))).toEqual(idsOf(cut));
    });

    it("is refused to a key that has left several replies unread, until it reads them", async () => {
      const limited = await orderLive.startAnotherInstance({ UNREAD_REPLY_BYTES_PER_KEY: "3000000" });
      const unread: ServerResponse[] = [];
      const ask = (by = principal) => {
        const outgoing = createUnreadResponse();
        unread.push(outgoing);
        return limited.request("GET", `${path}?size=100`, { principal: by, outgoing });
      };
      let refused = await ask();
      while (refused.status === 200 && unread.length < 20) refused = await ask();
      expect(unread.length).toBeGreaterThan(2);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"]);
      expect(await refused.json()).toMatchObject({ code: "rate_limited", limit: { name: "unread_reply_bytes" } });
      expect((await ask(createPosPrincipal().principal)).status).toBe(200);
      for (const { socket } of unread) socket?.destroy();
      await sleep(10);
      expect((await ask()).status).toBe(200);
    });

    it("shows each order once to a client that goes by index and reads on by token where a page ends early", async () => {
      const seen: string[] = [];
      for (let index = 0; index < 3; index += 1) {
        let page = await listPage(`?size=10&index=${index}`);
        seen.push(...idsOf(page));
        while (page.nextPageToken) {
          page = await listPage(`?size=10&pageToken=${page.nextPageToken}`);
          if (page.meta.currentPageIndex !== index) break;
          seen.push(...idsOf(page));
        }
      }
      expect(seen).toEqual(newestFirst(large));
    });
  });

  it.each([
    ["isPaid=true", ({ data }: OrderLiveInput) => data.isPaid],
    ["isPaid=false&isTransferred=true", ({ data }: OrderLiveInput) => !data.isPaid && data.isTransferred],
    ["isCanceled=true", ({ data }: OrderLiveInput) => data.isCanceled],
    [
      `tillId=${tills[0]?.toUpperCase()}&isPaid=true`,
      (order: OrderLiveInput) => order.tillId === tills[0] && order.data.isPaid,
    ],
    [`tillId=${randomUUID()}`, () => false],
    [`locationId=${locationId}`, () => true],
    ["isCancelled=maybe&foo=1", () => true],
  ])("can be filtered: %s", async (query, passes) => {
    const page = await orderLive.listOrders(principal, `?${query}&size=100`);
    expect(idsOf(page)).toEqual(newestFirst(orders.filter(passes)));
    expect(page.meta.totalCount).toBe(page.data.length);
  });

  it("counts what changes as it changes", async () => {
    const shop = createPosPrincipal();
    const [one, other] = [createLiveOrderInput(), createLiveOrderInput()];
    await orderLive.upsertOrders(shop.principal, one, other);
    await orderLive.upsertOrders(shop.principal, changeLiveOrderInput(one, { isPaid: true }));
    await orderLive.upsertOrders(shop.principal, { ...changeLiveOrderInput(other, {}), tillId: one.tillId });
    const count = async (query: string) => (await orderLive.listOrders(shop.principal, query)).meta.totalCount;
    expect(await Promise.all(["", "?isPaid=true", "?isPaid=false", `?tillId=${one.tillId}`].map(count))).toEqual([
      2, 1, 1, 2,
    ]);
  });

  it("is empty past its end, and where there is nothing", async () => {
    expect(await orderLive.listOrders(principal, "?index=9")).toMatchObject({ data: [], meta: { totalCount: 32 } });
    const page = await orderLive.listOrders(createPosPrincipal().principal);
    expect(page).toMatchObject({ data: [], meta: { totalPage: 0, totalCount: 0 }, nextPageToken: null });
  });

  it.each([
    ["isPaid=1", "isPaid"],
    ["isTransferred=", "isTransferred"],
    ["isCanceled=yes", "isCanceled"],
    ["tillId=7", "tillId"],
    ["locationId=7", "locationId"],
    ["index=-1", "index"],
    ["size=101", "size"],
  ])("refuses %s", async (query, faultPath) => {
    const problem = await orderLive.requestProblem("GET", `${path}?${query}`, { principal });
    expect(problem.errors).toMatchObject([{ in: "query", path: faultPath }]);
    if (!/index|size/.test(query)) {
      const refused = await orderLive.requestProblem("GET", `${path}stream?${query}`, { principal });
      expect(refused.errors).toMatchObject([{ in: "query", path: faultPath }]);
    }
  });

  it("refuses a token that it did not give, another location, and a key that may not read", async () => {
    expect((await orderLive.requestProblem("GET", `${path}?pageToken=abc`, { principal })).code).toBe(
      "invalid_page_token",
    );
    for (const list of [path, `${path}stream`]) {
      const elsewhere = await orderLive.requestProblem("GET", `${list}?locationId=${randomUUID()}`, { principal });
      expect(elsewhere.code).toBe("location_forbidden");
      const writer = createTestPrincipal({ scopes: ["orders:write"] });
      expect((await orderLive.requestProblem("GET", list, { principal: writer })).code).toBe("scope_missing");
    }
  });
});

describe("one live order", () => {
  const one = path + (orders[0]?.id ?? "");

  it("has an entity tag that changes with it", async () => {
    const shop = createPosPrincipal();
    const order = createLiveOrderInput();
    await orderLive.upsertOrders(shop.principal, order);
    const ask = (headers = {}) => orderLive.request("GET", path + order.id, { principal: shop.principal, headers });
    const first = await ask();
    const etag = first.headers.get("etag") ?? "";
    expect((await ask({ "if-none-match": etag })).status).toBe(304);
    await orderLive.upsertOrders(shop.principal, changeLiveOrderInput(order, { guestsCount: 7 }));
    const second = await ask({ "if-none-match": etag });
    expect(second.status).toBe(200);
    expect(second.headers.get("etag")).not.toBe(etag);
  });

  it("is found by its own location, and by a key for any", async () => {
    expect((await orderLive.request("GET", one, { principal })).status).toBe(200);
    const admin = createTestPrincipal({ scopes: ["admin"], location: null });
    expect((await orderLive.request("GET", one, { principal: admin })).status).toBe(200);
    expect((await orderLive.requestProblem("GET", one, { principal: createPosPrincipal().principal })).code).toBe(
      "order_not_found",
    );
  });

  it("is not there under an id that nobody sent, nor one that is no uuid", async () => {
    expect((await orderLive.requestProblem("GET", path + randomUUID(), { principal })).code).toBe("order_not_found");
    expect((await orderLive.requestProblem("GET", `${path}7`, { principal })).errors).toMatchObject([
      { in: "path", path: "id" },
    ]);
  });
});
