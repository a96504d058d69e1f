import { createHash, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { OrderV2 } from "@pragma/contracts/order-data";
import { OrderV1 } from "@pragma/contracts/order-v1";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { ReportV0, ReportV0ListItem } from "@pragma/contracts/report-v0";
import { ReportListItem, ReportV2 } from "@pragma/contracts/report-v2";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import type { Database } from "@pragma/runtime/database/postgres";
import { handleEventOnce } from "@pragma/runtime/messaging/handle-event";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { createObjectStore } from "@pragma/runtime/object-store/object-store";
import { runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import { waitUntilEventsHandled } from "@pragma/runtime/testing/event-stream-admin";
import { eventually } from "@pragma/runtime/testing/eventually";
import { listPublishedTestEventEnvelopes, listPublishedTestEvents } from "@pragma/runtime/testing/published-events";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { buildTestPrincipal, startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import type { ReportingContext } from "./context.ts";
import reporting from "./service.ts";
import { calculateTillReportSubscription } from "./subscriptions/till-pushed.ts";

let environment: IsolatedTestEnvironment;
let service: TestService;
const sample = JSON.parse(await readFile(new URL("./samples/small-v2.till.json", import.meta.url), "utf8"));

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  service = await startTestService(reporting, environment);
});
afterAll(async () => {
  await service.stop();
  await environment.remove();
});

/** Stores a till's body and publishes `till.pushed`, as till-ingest does. Then waits until the event is handled. */
async function pushTill(
  till: { id: string },
  eventFields: {
    locationId: string;
    revision?: number;
    pushedAt?: string;
    isErasure?: boolean;
    erasedRevision?: number;
  },
) {
  const bytes = Buffer.from(JSON.stringify(till));
  const hash = createHash("sha256").update(bytes).digest("hex");
  const key = `tills/${eventFields.locationId}/${hash}`;
  const objects = createObjectStore(environment.variables.OBJECT_STORE ?? "");
  await objects.put(key, bytes);
  const id = randomUUID();
  await service.db.transaction((tx) =>
    writeEventToOutbox(tx, "till.pushed", {
      id,
      traceparent: undefined,
      subject: till.id,
      data: {
        tillId: till.id,
        revision: 1,
        reason: "push",
        version: "V2",
        object: { key, hash },
        timeZone: "Europe/Paris",
        pushedAt: new Date().toISOString(),
        ...eventFields,
      },
    }),
  );
  await eventually(
    "the event to be handled",
    async () => {
      const [row] = await service.db.sql`select 1 from inbox where event_id = ${id}`;
      return row;
    },
    // Until a till of 1,500 orders is stored on a busy machine.
    { timeoutSeconds: 50 },
  );
}

/**
 * Returns a copy of the sample till with a new id. Its orders have the given ids (by default, two new ids), and were
 * opened at the start of the shift.
 */
function createTillFromSample(changes: { orders?: string[]; startedAt?: string } = {}) {
  const orders = changes.orders ?? [randomUUID(), randomUUID()];
  return {
    ...sample,
    id: randomUUID(),
    startedAt: changes.startedAt ?? sample.startedAt,
    orderList: orders.map((id, index): { id: string } => ({
      ...sample.orderList[index],
      id,
      openedAt: changes.startedAt ?? sample.startedAt,
    })),
  };
}

const reportsPage = paginatedSchema(ReportListItem);
const reportsV0Page = paginatedSchema(ReportV0ListItem);
async function listReports(locationId: string, query = "") {
  const response = await service.request("GET", `/v2/reports/${query}`, { principal: locationPrincipal(locationId) });
  return reportsPage.parse(await response.json());
}
async function listReportsV0(locationId: string) {
  return reportsV0Page.parse(
    await (await service.request("GET", "/v1/reports/", { principal: locationPrincipal(locationId) })).json(),
  );
}

const location = () => buildTestPrincipal().location ?? expect.unreachable();
const locationPrincipal = (id: string) => buildTestPrincipal({ location: { ...location(), id } });

describe("a pushed till", () => {
  it("can be read as V2 and V0 reports that match their schemas", async () => {
    const locationId = randomUUID();
    const till = createTillFromSample();
    await pushTill(till, { locationId });
    const principal = locationPrincipal(locationId);
    const list = await listReports(locationId);
    expect(list.meta).toEqual({ totalPage: 1, totalCount: 1, currentPageIndex: 0, pageSize: 10 });
    const id = list.data[0]?.id;
    const v2 = ReportV2.parse(await (await service.request("GET", `/v2/reports/${id}`, { principal })).json());
    expect(v2).toMatchObject({ tillId: till.id, locationId, orderCount: v2.orderCount });
    const v0 = ReportV0.parse(await (await service.request("GET", `/v1/reports/${id}/`, { principal })).json());
    expect(v0.orders).toEqual(till.orderList.map((order: { id: string }) => order.id));
  });

  it("has V2 orders that are stored compressed, and are returned as if they were not", async () => {
    const locationId = randomUUID();
    const till = createTillFromSample();
    await pushTill(till, { locationId });
    const rows = await service.db.sql<{ id: string; v1: string; size: number }[]>`
      select id, v1, octet_length(v2_deflated) as size from orders where location_id = ${locationId}`;
    expect(rows).toHaveLength(2);
    for (const { id, v1, size } of rows) {
      const response = await service.request("GET", `/v2/orders/${id}`, { principal: locationPrincipal(locationId) });
      const text = await response.text();
      const order = OrderV2.parse(JSON.parse(text));
      const { createdAt, updatedAt } = JSON.parse(v1);
      expect(order).toMatchObject({ id, createdAt, updatedAt });
      expect(size).toBeLessThan(text.length / 2);
    }
  });

  it("returns 304 for a request with the current entity tag", async () => {
    const locationId = randomUUID();
    await pushTill(createTillFromSample(), { locationId });
    const principal = locationPrincipal(locationId);
    const { data } = await listReports(locationId);
    const first = await service.request("GET", `/v2/reports/${data[0]?.id}`, { principal });
    const conditional = await service.request("GET", `/v2/reports/${data[0]?.id}`, {
      principal,
      headers: { "if-none-match": first.headers.get("etag") ?? "" },
    });
    expect(conditional.status).toBe(304);
    expect(await conditional.text()).toBe("");
  });

  it("returns 404 to a key of another location", async () => {
    const locationId = randomUUID();
    await pushTill(createTillFromSample(), { locationId });
    const { data } = await listReports(locationId);
    const response = await service.request("GET", `/v2/reports/${data[0]?.id}`, { principal: buildTestPrincipal() });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "report_not_found" });
  });
});

describe("revisions of a till", () => {
  it("keep the highest revision in any sequence of events, and keep the creation time", async () => {
    const locationId = randomUUID();
    const old = createTillFromSample();
    const replaced = { ...old, note: "replaced", orderList: old.orderList.slice(0, 1) };
    await pushTill(old, { locationId });
    const [before] = (await listReportsV0(locationId)).data;
    await pushTill(replaced, { locationId, revision: 2 });
    await pushTill(old, { locationId, revision: 1 });
    const { meta, data } = await listReportsV0(locationId);
    expect(meta.totalCount).toBe(1);
    expect(data[0]?.orders).toEqual([old.orderList[0].id]);
    expect(data[0]?.createdAt).toBe(before?.createdAt);
    expect(Date.parse(data[0]?.updatedAt ?? "")).toBeGreaterThan(Date.parse(before?.updatedAt ?? ""));
  });

  it("do not need the body of a revision below the applied revision", async () => {
    const locationId = randomUUID();
    const till = createTillFromSample();
    await pushTill(till, { locationId, revision: 20 });
    // The bodies of these events do not exist, so an event whose body is loaded would become a dead letter.
    const outdatedEvents = Array.from({ length: 19 }, (_, index) => ({ id: randomUUID(), revision: index + 1 }));
    await service.db.transaction(async (tx) => {
      for (const { id, revision } of outdatedEvents) {
        await writeEventToOutbox(tx, "till.pushed", {
          id,
          traceparent: undefined,
          subject: till.id,
          data: {
            ...({ tillId: till.id, locationId, revision, reason: "replace", version: "V2" } as const),
            ...{ object: { key: `missing/${id}`, hash: id }, timeZone: "Europe/Paris" },
            pushedAt: new Date().toISOString(),
          },
        });
      }
    });
    await waitUntilEventsHandled(environment, service);
    expect(await service.running.deadLetters.list()).toEqual([]);
    expect((await listReports(locationId)).meta.totalCount).toBe(1);
  });

  it.each([
    ["its report is finalized", {}, 1, "report.finalized"],
    ["its report is removed", { isTraining: true }, 2, "report.removed"],
  ])("do not need the body of the applied revision to publish again that %s", async (_, fields, revision, type) => {
    const till = { ...createTillFromSample(), ...fields };
    const locationId = randomUUID();
    await pushTill(till, { locationId, revision });
    await waitUntilEventsHandled(environment, service);
    const envelopes = (await listPublishedTestEventEnvelopes(environment)).filter((event) =>
      JSON.stringify(event).includes(till.id),
    );
    const [pushed, published] = envelopes;
    const context = await runWithObservabilityContext({}, async (requestContext) => requestContext);
    const objects = { get: () => Promise.reject(new Error("The body was loaded.")) };
    const outbox: unknown[] = [];
    const database: Database = {
      ...service.db,
      transaction: (work) =>
        service.db.transaction(async (tx) => {
          const result = await work(tx);
          outbox.push(...(await tx`select id, type from outbox`));
          return result;
        }),
    };
    const services = { db: database, objects } as unknown as ReportingContext;
    const repeated = { ...(pushed ?? expect.unreachable()), id: randomUUID() };
    await handleEventOnce(repeated, {
      service: "reporting",
      subscription: calculateTillReportSubscription,
      database,
      services,
      handlerTimeoutMs: 60_000,
      context,
    });
    expect(outbox).toEqual([{ id: published?.id, type }]);
  });

  it.each([
    [2, true],
    [3, false],
  ])("keep a till of revision 1 marked as erased after an erasure of revision %i: %s", async (revision, isErased) => {
    const locationId = randomUUID();
    const till = createTillFromSample();
    await pushTill(till, { locationId });
    await service.db.sql`update tills set erased_at = now() where till_id = ${till.id}`;
    await pushTill({ ...till, note: "erased" }, { locationId, revision, isErasure: true });
    const [row] = await service.db.sql`select erased_at is not null as is_erased from tills where till_id = ${till.id}`;
    expect(row).toEqual({ isErased });
  });

  it("publish that personal data was erased, also when a later revision is applied instead of the erasure", async () => {
    const locationId = randomUUID();
    const till = createTillFromSample();
    await pushTill(till, { locationId });
    await pushTill({ ...till, note: "replaced after the erasure" }, { locationId, revision: 3, erasedRevision: 2 });
    await waitUntilEventsHandled(environment, service);
    const published = await listPublishedTestEvents(environment, "report.finalized", computeTillReportId(till.id));
    expect(published.map(({ revision, isErased }) => [revision, isErased])).toEqual([
      [1, undefined],
      [3, true],
    ]);
  });

  it("remove the report when the till changes to training mode", async () => {
    const locationId = randomUUID();
    const till = createTillFromSample();
    await pushTill(till, { locationId });
    await pushTill({ ...till, isTraining: true }, { locationId, revision: 2 });
    const list = await listReports(locationId);
    expect(list).toMatchObject({ data: [], meta: { totalCount: 0, totalPage: 0 }, nextPageToken: null });
    const counts = await service.db.sql`
      select coalesce(sum(count), 0)::int as n from day_counts where location_id = ${locationId}`;
    expect(counts[0]?.n).toBe(0);
  });

  it.each([
    ["in the order of the pushes", [0, 1]],
    ["in reverse order", [1, 0]],
  ])("assign an order in two tills to the till pushed last, with events %s", async (_, sequence) => {
    const locationId = randomUUID();
    const shared = randomUUID();
    const tills = [
      createTillFromSample({ orders: [shared, randomUUID()] }),
      createTillFromSample({ orders: [shared] }),
    ];
    const times = ["2026-06-01T08:00:00.000Z", "2026-06-02T08:00:00.000Z"];
    for (const index of sequence) await pushTill(tills[index], { locationId, pushedAt: times[index] ?? "" });
    const current = await service.db.sql`
      select till_id from orders where location_id = ${locationId} and id = ${shared} and is_current`;
    expect(current.map((row) => row.tillId)).toEqual([tills[1].id]);
    // The newer till no longer contains the order, so the order belongs to the older till again.
    await pushTill({ ...tills[1], orderList: [] }, { locationId, revision: 2, pushedAt: times[1] ?? "" });
    const later = await service.db.sql`
      select till_id from orders where location_id = ${locationId} and id = ${shared} and is_current`;
    expect(later.map((row) => row.tillId)).toEqual([tills[0].id]);
  });
});

describe("lists of reports", () => {
  it("page by index and by token, newest first, with filters by day", async () => {
    const locationId = randomUUID();
    const days = ["2026-03-01", "2026-03-02", "2026-03-02", "2026-03-28", "2026-03-29", "2026-03-30"];
    for (const [index, day] of days.entries())
      await pushTill(createTillFromSample({ startedAt: `${day}T0${index}:30:00.000Z` }), { locationId });
    const all: string[] = [];
    let next: string | null = "?size=4&since=2026-01-01";
    while (next) {
      const page: z.infer<typeof reportsPage> = await listReports(locationId, next);
      expect(page.meta.totalCount).toBe(6);
      all.push(...page.data.map((item) => item.startedAt));
      next = page.links.next && new URL(page.links.next).search;
    }
    expect(all).toEqual([...all].sort().reverse());
    expect(all).toHaveLength(6);

    const byToken: string[] = [];
    let token: string | null = null;
    do {
      const page: z.infer<typeof reportsPage> = await listReports(
        locationId,
        `?size=2${token ? `&pageToken=${token}` : ""}`,
      );
      expect(page.meta.currentPageIndex).toBe(byToken.length / 2);
      byToken.push(...page.data.map((item) => item.startedAt));
      token = page.nextPageToken;
    } while (token);
    expect(byToken).toEqual(all);

    const filtered = await listReports(locationId, "?since=2026-03-02&until=2026-03-28&size=1&index=2");
    expect(filtered.meta).toEqual({ totalPage: 3, totalCount: 3, currentPageIndex: 2, pageSize: 1 });
    expect(filtered.links).toMatchObject({ next: null });
    expect(filtered.links.prev).toContain("since=2026-03-02&until=2026-03-28&size=1&index=1");
    const beyond = await listReports(locationId, "?index=7");
    expect(beyond).toMatchObject({ data: [], meta: { totalCount: 6, currentPageIndex: 7 } });
  });

  it("sort by instant, including fractions of a second", async () => {
    const locationId = randomUUID();
    const times = ["19.000Z", "19.050Z", "19.100Z", "19.123456Z", "20.000Z"].map((end) => `2026-05-29T10:17:${end}`);
    for (const startedAt of times) await pushTill(createTillFromSample({ startedAt }), { locationId });
    const [first, second] = [
      await listReports(locationId, "?size=2"),
      await listReports(locationId, "?size=3&index=1"),
    ];
    expect(first.data.map(({ startedAt }) => startedAt)).toEqual(times.toReversed().slice(0, 2));
    expect(second.data.map(({ startedAt }) => startedAt)).toEqual(times.toReversed().slice(3));
    const rest = await listReports(locationId, `?size=3&pageToken=${first.nextPageToken}`);
    expect(rest.data.map(({ startedAt }) => startedAt)).toEqual(times.toReversed().slice(2));
  });

  it.each([
    ["index=-1", "index"],
    ["size=101", "size"],
    ["size=0", "size"],
    ["size=", "size"],
    ["since=2026-02-30", "since"],
    ["until=yesterday", "until"],
    ["locationId=7", "locationId"],
  ])("return invalid_request for %s", async (query, path) => {
    const response = await service.request("GET", `/v2/reports/?${query}`);
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({ code: "invalid_request", errors: [{ in: "query", path }] });
  });

  it("reject an invalid page token and another location", async () => {
    expect(await (await service.request("GET", "/v2/reports/?pageToken=abc")).json()).toMatchObject({
      code: "invalid_page_token",
    });
    const response = await service.request("GET", `/v2/reports/?locationId=${randomUUID()}`);
    expect(response.status).toBe(403);
  });
});

describe("orders of a pushed till", () => {
  const ordersPage = paginatedSchema(OrderV1);

  it("can be listed in pages, newest first, filtered by report or day, and read by id", async () => {
    const locationId = randomUUID();
    const principal = locationPrincipal(locationId);
    const tills = [
      createTillFromSample({ startedAt: "2026-05-01T10:00:00.000Z" }),
      createTillFromSample({ startedAt: "2026-05-02T10:00:00.000Z" }),
    ];
    for (const till of tills) await pushTill(till, { locationId });
    const list = async (query: string) =>
      ordersPage.parse(await (await service.request("GET", `/v1/orders/${query}`, { principal })).json());

    const allOrders = await list("?size=100");
    expect(allOrders.meta.totalCount).toBe(4);
    expect(
      allOrders.data
        .slice(0, 2)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(tills[1]?.orderList.map((order: { id: string }) => order.id).sort());
    const [first, second] = [await list("?size=3"), await list("?size=3&index=1")];
    expect([...first.data, ...second.data]).toEqual(allOrders.data);
    expect(await list(`?size=3&pageToken=${first.nextPageToken}`)).toMatchObject({
      data: second.data,
      nextPageToken: null,
    });

    const reportId = allOrders.data[3]?.reportId;
    const reportOrders = await list(`?reportId=${reportId}&size=1&index=1`);
    expect(reportOrders.meta).toEqual({ totalPage: 2, totalCount: 2, currentPageIndex: 1, pageSize: 1 });
    expect(reportOrders.data).toEqual([allOrders.data[3]]);
    expect((await list(`?reportId=${reportId}&since=2026-05-02`)).data).toEqual([]);
    expect((await list("?until=2026-05-01")).meta.totalCount).toBe(2);

    const id = allOrders.data[0]?.id;
    const one = await service.request("GET", `/v1/orders/${id}`, { principal });
    expect(OrderV1.parse(await one.json())).toEqual(allOrders.data[0]);
    expect(OrderV2.parse(await (await service.request("GET", `/v2/orders/${id}`, { principal })).json())).toMatchObject(
      {
        id,
      },
    );
    expect((await service.request("GET", `/v1/orders/${id}`, { principal: buildTestPrincipal() })).status).toBe(404);
  });
});

describe("a till whose report cannot be computed", () => {
  it("is published as parked once for each dead letter", async () => {
    const locationId = randomUUID();
    const till = createTillFromSample();
    await pushTill(till, { locationId });
    // The same revision with another body is a permanent error.
    const bytes = Buffer.from(JSON.stringify({ ...till, note: "other" }));
    const hash = createHash("sha256").update(bytes).digest("hex");
    const id = randomUUID();
    await service.db.transaction((tx) =>
      writeEventToOutbox(tx, "till.pushed", {
        ...{ id, subject: till.id, traceparent: undefined },
        data: {
          tillId: till.id,
          locationId,
          revision: 1,
          reason: "push",
          version: "V2",
          object: { key: `tills/${locationId}/${hash}`, hash },
          timeZone: "Europe/Paris",
          pushedAt: new Date().toISOString(),
        },
      }),
    );
    await eventually("the dead letter", async () =>
      (await service.running.deadLetters.list()).some(({ eventId }) => eventId === id),
    );
    await service.waitForEmptyOutbox();
    const parked = (await listPublishedTestEventEnvelopes(environment)).filter(
      (envelope) => envelope.type === "report.parked",
    );
    const reportId = computeTillReportId(till.id);
    expect(parked).toMatchObject([
      { subject: reportId, data: { locationId, reportId, tillId: till.id, revision: 1, reason: "calculation_failed" } },
    ]);
    await service.db.sql`delete from dead_letters where event_id = ${id}`;
  });
});

describe("a list", () => {
  const readProblem = async (response: Response) => (await response.json()) as { code: string; errors: object[] };

  it("rejects a page token of other filters", async () => {
    const principal = buildTestPrincipal();
    const locationId = principal.location?.id ?? "";
    for (const day of ["01", "02", "03"])
      await pushTill({ ...createTillFromSample(), startedAt: `2026-05-${day}T10:00:00.000Z` }, { locationId });
    const get = (query: string, path = "/v2/reports/") => service.request("GET", `${path}${query}`, { principal });
    const first = paginatedSchema(ReportListItem).parse(await (await get("?size=1&since=2026-05-01")).json());
    const token = first.nextPageToken ?? "";

    const withOther = await get(`?size=1&since=2026-05-02&until=2026-05-03&pageToken=${token}`);
    expect([withOther.status, await readProblem(withOther)]).toMatchObject([
      400,
      { code: "invalid_page_token", errors: [{ path: "since" }, { path: "until" }] },
    ]);
    expect((await readProblem(await get(`?since=2026-05-01&pageToken=${token}`, "/v1/orders/"))).code).toBe(
      "invalid_page_token",
    );
    // The location is the same if it is named, and the size of a page is not a filter.
    const second = await get(`?size=2&since=2026-05-01&locationId=${locationId}&pageToken=${token}`);
    const { data } = paginatedSchema(ReportListItem).parse(await second.json());
    expect(data).toHaveLength(2);
  });

  it.each(["/v1/reports/", "/v2/reports/", "/v1/orders/"])(
    "of %s rejects a range that ends before it begins",
    async (path) => {
      const response = await service.request("GET", `${path}?since=2026-05-30&until=2026-05-29`);
      expect([response.status, await readProblem(response)]).toMatchObject([
        400,
        { code: "invalid_request", errors: [{ in: "query", path: "since", code: "too_big" }] },
      ]);
    },
  );
});

describe("day counts", () => {
  it("match the number of orders", async () => {
    const locationId = randomUUID();
    const till = createTillFromSample({ orders: Array.from({ length: 1500 }, () => randomUUID()) });
    till.orderList = till.orderList.map((order: object) => ({ ...sample.orderList[1], ...order }));
    await pushTill(till, { locationId });
    const ids: string[] = [];
    for (let index = 0; index < 15; index++) {
      const page = await (
        await service.request("GET", `/v1/orders/?size=100&index=${index}`, {
          principal: locationPrincipal(locationId),
        })
      ).json();
      const { data, meta } = paginatedSchema(OrderV1).parse(page);
      expect(meta.totalCount).toBe(1500);
      ids.push(...data.map(({ id }) => id));
    }
    expect(ids).toEqual(
      till.orderList
        .map(({ id }: { id: string }) => id)
        .sort()
        .reverse(),
    );
    await pushTill({ ...till, orderList: till.orderList.slice(0, 1000) }, { locationId, revision: 2 });
    const [byDay] = await service.db.sql`
      select sum(count)::int as n from day_counts where location_id = ${locationId} and kind = 'order'`;
    expect(byDay?.n).toBe(1000);
    expect((await listReports(locationId)).data).toHaveLength(1);
  });
});
