import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import { buildTestPrincipal, type TestService } from "@pragma/runtime/testing/test-service";
import { createResponseUnreadByClient } from "@pragma/runtime/testing/unread-response";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildTestLiveOrderProductRow,
  createChangedTestLiveOrder,
  createTestLiveOrderInput,
} from "../testing/order-fixtures.ts";
import {
  buildTestPosPrincipalAndLocation,
  startTestOrderLiveService,
  type TestOrderLiveService,
} from "../testing/start-test-order-live.ts";

let orderLive: TestOrderLiveService;
const { principal, locationId } = buildTestPosPrincipalAndLocation();
const tillIds = [randomUUID(), randomUUID()];
/** Two orders for each combination of till, paid, transferred and canceled. Two orders share each opening time. */
const orders: OrderLiveInput[] = Array.from({ length: 32 }, (_, index) =>
  createTestLiveOrderInput(
    {
      openedAt: `2026-05-29T10:${String(10 + (index >> 1))}:00.000Z`,
      isPaid: (index & 1) > 0,
      isTransferred: (index & 2) > 0,
      isCanceled: (index & 4) > 0,
    },
    { tillId: tillIds[(index & 8) >> 3] ?? "" },
  ),
);
const idsNewestFirst = (orders: OrderLiveInput[]) =>
  [...orders]
    .sort((one, other) => `${one.data.openedAt}${one.id}`.localeCompare(`${other.data.openedAt}${other.id}`))
    .reverse()
    .map(({ id }) => id);

beforeAll(async () => {
  orderLive = await startTestOrderLiveService();
  await orderLive.upsertOrders(principal, ...orders);
  await orderLive.upsertOrders(buildTestPosPrincipalAndLocation().principal, createTestLiveOrderInput());
});
afterAll(() => orderLive.remove());

const path = "/v1/orders-live/";
const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

describe("the list of live orders", () => {
  it("returns the orders of the location, newest first", async () => {
    const page = await orderLive.listOrders(principal, "?size=100");
    expect(idsOf(page)).toEqual(idsNewestFirst(orders));
    expect(page.meta).toEqual({ totalPage: 1, totalCount: 32, currentPageIndex: 0, pageSize: 100 });
  });

  it("has the same pages by index and by token, and links that keep the filters", async () => {
    const expectedIds = idsNewestFirst(orders.filter(({ data }) => !data.isCanceled));
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
    expect(byIndex).toEqual(expectedIds);
    expect(byToken).toEqual(expectedIds);
  });

  describe("of large orders", () => {
    const { principal } = buildTestPosPrincipalAndLocation();
    const rows = (count: number) => Array.from({ length: count }, buildTestLiveOrderProductRow);
    const largeOrders = Array.from({ length: 23 }, (_, index) =>
      createTestLiveOrderInput({
        openedAt: `2026-05-29T11:${10 + index}:00.000Z`,
        productRowList: rows(index === 7 ? 90 : 9),
      }),
    );
    const maxBytes = 40_000;
    let limitedInstance: TestService;
    const listPage = async (query: string) => {
      const response = await limitedInstance.request("GET", `${path}${query}`, { principal });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      const page = JSON.parse(text);
      const bytes = Buffer.byteLength(JSON.stringify(page.data));
      expect(page.data.length === 1 || bytes <= maxBytes + page.data.length + 1, `${bytes} bytes`).toBe(true);
      return page;
    };

    beforeAll(async () => {
      await orderLive.upsertOrders(principal, ...largeOrders);
      limitedInstance = await orderLive.startAnotherInstance({ PAGE_MAX_BYTES: String(maxBytes) });
    });

    it("has shorter pages and returns each order once by nextPageToken", async () => {
      const receivedIds: string[] = [];
      const indexes: number[] = [];
      for (let token: string | null = ""; token !== null; ) {
        const page = await listPage(`?size=10${token && `&pageToken=${token}`}`);
        expect(page.meta).toMatchObject({ totalCount: 23, totalPage: 3, pageSize: 10 });
        receivedIds.push(...idsOf(page));
        indexes.push(...idsOf(page).map(() => page.meta.currentPageIndex));
        token = page.nextPageToken;
      }
      expect(receivedIds).toEqual(idsNewestFirst(largeOrders));
      // A shortened page has the index that its orders would have on full pages of ten orders.
      expect(indexes).toEqual(largeOrders.map((_, index) => Math.floor(index / 10)));
    });

    it("returns each order once by links.next, and links.prev leads back to the start of the page", async () => {
      const receivedIds: string[] = [];
      for (let next: string | null = "?size=10"; next; ) {
        const page = await listPage(next);
        receivedIds.push(...idsOf(page));
        next = page.links.next && new URL(page.links.next).search;
      }
      expect(receivedIds).toEqual(idsNewestFirst(largeOrders));
      const shortPage = await listPage("?size=10&index=1");
      expect(shortPage.data.length).toBeLessThan(10);
      const restPage = await listPage(new URL(shortPage.links.next).search);
      expect(idsOf(await listPage(new URL(restPage.links.prev).search))).toEqual(idsOf(shortPage));
    });

    it("returns 429 while too many response bytes of the API key are unread", async () => {
      const limited = await orderLive.startAnotherInstance({ UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION: "3000000" });
      const unread: ServerResponse[] = [];
      const requestList = (requester = principal) => {
        const outgoing = createResponseUnreadByClient();
        unread.push(outgoing);
        return limited.request("GET", `${path}?size=100`, { principal: requester, outgoing });
      };
      let rejected = await requestList();
      while (rejected.status === 200 && unread.length < 20) rejected = await requestList();
      expect(unread.length).toBeGreaterThan(2);
      expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([429, "2"]);
      expect(await rejected.json()).toMatchObject({ code: "rate_limited", limit: { name: "unread_response_bytes" } });
      expect((await requestList(buildTestPosPrincipalAndLocation().principal)).status).toBe(200);
      for (const { socket } of unread) socket?.destroy();
      await sleep(10);
      expect((await requestList()).status).toBe(200);
    });

    it("returns each order once by index, with nextPageToken for the rest of a short page", async () => {
      const receivedIds: string[] = [];
      for (let index = 0; index < 3; index += 1) {
        let page = await listPage(`?size=10&index=${index}`);
        receivedIds.push(...idsOf(page));
        while (page.nextPageToken) {
          page = await listPage(`?size=10&pageToken=${page.nextPageToken}`);
          if (page.meta.currentPageIndex !== index) break;
          receivedIds.push(...idsOf(page));
        }
      }
      expect(receivedIds).toEqual(idsNewestFirst(largeOrders));
    });
  });

  it.each([
    ["isPaid=true", ({ data }: OrderLiveInput) => data.isPaid],
    ["isPaid=false&isTransferred=true", ({ data }: OrderLiveInput) => !data.isPaid && data.isTransferred],
    ["isCanceled=true", ({ data }: OrderLiveInput) => data.isCanceled],
    [
      `tillId=${tillIds[0]?.toUpperCase()}&isPaid=true`,
      (order: OrderLiveInput) => order.tillId === tillIds[0] && order.data.isPaid,
    ],
    [`tillId=${randomUUID()}`, () => false],
    [`locationId=${locationId}`, () => true],
    ["isCancelled=maybe&foo=1", () => true],
  ])("applies the filter %s", async (query, matches) => {
    const page = await orderLive.listOrders(principal, `?${query}&size=100`);
    expect(idsOf(page)).toEqual(idsNewestFirst(orders.filter(matches)));
    expect(page.meta.totalCount).toBe(page.data.length);
  });

  it("updates its counts with each change", async () => {
    const pos = buildTestPosPrincipalAndLocation();
    const [one, other] = [createTestLiveOrderInput(), createTestLiveOrderInput()];
    await orderLive.upsertOrders(pos.principal, one, other);
    await orderLive.upsertOrders(pos.principal, createChangedTestLiveOrder(one, { isPaid: true }));
    await orderLive.upsertOrders(pos.principal, { ...createChangedTestLiveOrder(other, {}), tillId: one.tillId });
    const count = async (query: string) => (await orderLive.listOrders(pos.principal, query)).meta.totalCount;
    expect(await Promise.all(["", "?isPaid=true", "?isPaid=false", `?tillId=${one.tillId}`].map(count))).toEqual([
      2, 1, 1, 2,
    ]);
  });

  it("is empty past the last page and for a location without orders", async () => {
    expect(await orderLive.listOrders(principal, "?index=9")).toMatchObject({ data: [], meta: { totalCount: 32 } });
    const page = await orderLive.listOrders(buildTestPosPrincipalAndLocation().principal);
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
  ])("returns 400 for %s", async (query, issuePath) => {
    const problem = await orderLive.requestProblem({ method: "GET", path: `${path}?${query}`, principal });
    expect(problem.errors).toMatchObject([{ in: "query", path: issuePath }]);
    if (!/index|size/.test(query)) {
      const streamProblem = await orderLive.requestProblem({
        method: "GET",
        path: `${path}stream?${query}`,
        principal,
      });
      expect(streamProblem.errors).toMatchObject([{ in: "query", path: issuePath }]);
    }
  });

  it("rejects an invalid page token, another location, and an API key without the scope", async () => {
    expect((await orderLive.requestProblem({ method: "GET", path: `${path}?pageToken=abc`, principal })).code).toBe(
      "invalid_page_token",
    );
    for (const url of [path, `${path}stream`]) {
      const problem = await orderLive.requestProblem({
        method: "GET",
        path: `${url}?locationId=${randomUUID()}`,
        principal,
      });
      expect(problem.code).toBe("location_forbidden");
      const writer = buildTestPrincipal({ scopes: ["orders:write"] });
      expect((await orderLive.requestProblem({ method: "GET", path: url, principal: writer })).code).toBe(
        "scope_missing",
      );
    }
  });
});

describe("a live order", () => {
  const orderPath = path + (orders[0]?.id ?? "");

  it("has an ETag that changes with the order", async () => {
    const pos = buildTestPosPrincipalAndLocation();
    const order = createTestLiveOrderInput();
    await orderLive.upsertOrders(pos.principal, order);
    const requestOrder = (headers = {}) =>
      orderLive.request("GET", path + order.id, { principal: pos.principal, headers });
    const first = await requestOrder();
    const etag = first.headers.get("etag") ?? "";
    expect((await requestOrder({ "if-none-match": etag })).status).toBe(304);
    await orderLive.upsertOrders(pos.principal, createChangedTestLiveOrder(order, { guestsCount: 7 }));
    const second = await requestOrder({ "if-none-match": etag });
    expect(second.status).toBe(200);
    expect(second.headers.get("etag")).not.toBe(etag);
  });

  it("is found by its own location and by an API key for all locations", async () => {
    expect((await orderLive.request("GET", orderPath, { principal })).status).toBe(200);
    const admin = buildTestPrincipal({ scopes: ["admin"], location: null });
    expect((await orderLive.request("GET", orderPath, { principal: admin })).status).toBe(200);
    expect(
      (
        await orderLive.requestProblem({
          method: "GET",
          path: orderPath,
          principal: buildTestPosPrincipalAndLocation().principal,
        })
      ).code,
    ).toBe("order_not_found");
  });

  it("returns 404 for an unknown id and 400 for an id that is not a UUID", async () => {
    expect((await orderLive.requestProblem({ method: "GET", path: path + randomUUID(), principal })).code).toBe(
      "order_not_found",
    );
    expect((await orderLive.requestProblem({ method: "GET", path: `${path}7`, principal })).errors).toMatchObject([
      { in: "path", path: "id" },
    ]);
  });
});
