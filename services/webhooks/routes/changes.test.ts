import { randomInt, randomUUID } from "node:crypto";
import { type Change, ChangePage } from "@pragma/contracts/changes";
import type { BusEventData } from "@pragma/contracts/events";
import type { Principal } from "@pragma/contracts/principal";
import { eventually } from "@pragma/runtime/testing/eventually";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recordReportChange } from "../changes/record-change.ts";
import { countPendingChanges, findOldestPendingChangeAgeSeconds } from "../queries/all-changes.ts";
import { lockChangeFeed, upsertLastChangeRow } from "../queries/changes.ts";
import { startTestWebhooksService, type TestWebhooksService } from "../testing/start-test-webhooks.ts";

let service: TestWebhooksService;

beforeAll(async () => {
  service = await startTestWebhooksService();
}, 300_000);
afterAll(() => service?.remove());

const scopes = ["reports:read", "orders:read", "catalog:read", "locations:read"];
const createReader = (overrides: Partial<Principal> = {}) => buildTestPrincipal({ scopes, ...overrides });
const locationIdOf = ({ location }: Principal): string => location?.id ?? expect.unreachable("the key has a location");

/** Replaces the waiting requests of a process that receives no notifications. */
const silentWaiters = { notify: () => {} };

const readPage = (principal: Principal, query = "") => service.getJson(`/v1/changes/?${query}`, ChangePage, principal);

/** Reads all changes after a cursor, in pages of this size. */
async function readAll(
  principal: Principal,
  { after, size = 100, types = "", allLocations = "" } = {} as ReadOptions,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (let cursor = after, hasMore = true; hasMore; ) {
    const query = new URLSearchParams({
      ...{ size: `${size}`, ...(cursor && { after: cursor }), ...(types && { types }) },
      ...(allLocations && { allLocations }),
    });
    const page = await readPage(principal, `${query}`);
    changes.push(...page.data);
    cursor = page.nextCursor;
    hasMore = page.hasMore;
  }
  return changes;
}

interface ReadOptions {
  after?: string;
  size?: number;
  types?: string;
  allLocations?: string;
}

const summarize = (changes: Change[]) => changes.map(({ type, action, id }) => `${type} ${action} ${id}`);

function buildReport(
  principal: Principal,
  { reportId = randomUUID() as string, revision = 1, orderIds = [] as string[], isErased = false } = {},
): BusEventData<"report.finalized"> {
  return {
    ...{ locationId: locationIdOf(principal), reportId, tillId: randomUUID(), revision, orderIds },
    ...{ reportVersion: 1, reportNumber: 1, totalSales: 0 },
    ...{ startedAt: "2026-05-29T08:00:00.000Z", finalizedAt: "2026-05-29T20:00:00.000Z" },
    ...(isErased && { isErased }),
  };
}

/** Waits until the feed of the reader contains this revision of a report. */
const waitForRevision = (principal: Principal, reportId: string, revision: number) =>
  eventually("the report in the feed", async () =>
    (await readAll(principal, { types: "report" })).find((each) => each.id === reportId && each.revision >= revision),
  );

async function finalize(principal: Principal, report: Parameters<typeof buildReport>[1]): Promise<string> {
  const data = buildReport(principal, report);
  await service.publishEvent("report.finalized", data);
  await waitForRevision(principal, data.reportId, data.revision);
  return data.reportId;
}

describe("the change feed", () => {
  it("begins with the location and its catalog, and contains each report before its orders", async () => {
    const reader = createReader();
    const orderIds = [randomUUID(), randomUUID()];
    const reportId = await finalize(reader, { orderIds });
    const changes = await readAll(reader);
    const locationId = locationIdOf(reader);
    expect(summarize(changes)).toEqual([
      `location created ${locationId}`,
      `catalog created ${locationId}`,
      `report created ${reportId}`,
      ...orderIds.map((id) => `order created ${id}`),
    ]);
    expect(changes.map(({ href }) => href)).toEqual([
      "http://pragma.test/v1/locations/own",
      "http://pragma.test/v1/catalog/",
      `http://pragma.test/v2/reports/${reportId}`,
      ...orderIds.map((id) => `http://pragma.test/v2/orders/${id}`),
    ]);
  });

  it("moves a report that is replaced to the end, and removes the orders that no till contains any more", async () => {
    const reader = createReader();
    const [kept, moved, dropped, added] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const reportId = await finalize(reader, { orderIds: [kept, moved, dropped] });
    const { nextCursor } = await readPage(reader);
    const otherId = await finalize(reader, { orderIds: [moved] });
    await finalize(reader, { reportId, revision: 2, orderIds: [kept, added] });
    const replacement = [
      `report replaced ${reportId}`,
      ...[kept, added, moved].map((id) => `order replaced ${id}`),
      `order removed ${dropped}`,
    ];
    const others = [`report created ${otherId}`, `order created ${moved}`];
    expect(summarize(await readAll(reader, { after: nextCursor }))).toEqual([...others, ...replacement]);
    expect(summarize(await readAll(reader)).slice(2)).toEqual([...others, ...replacement]);

    // The other till is now in training mode, so that the order that both contained is in no till.
    const locationId = locationIdOf(reader);
    await service.publishEvent("report.removed", { locationId, reportId: otherId, tillId: randomUUID(), revision: 2 });
    await waitForRevision(reader, otherId, 2);
    expect(summarize(await readAll(reader)).slice(-2)).toEqual([`report removed ${otherId}`, `order removed ${moved}`]);
  });

  it("reports the erasure of personal data for the report and its orders", async () => {
    const reader = createReader();
    const orderId = randomUUID();
    const reportId = await finalize(reader, { orderIds: [orderId] });
    await finalize(reader, { reportId, revision: 2, orderIds: [orderId], isErased: true });
    expect(summarize(await readAll(reader)).slice(2)).toEqual([`report erased ${reportId}`, `order erased ${orderId}`]);
  });

  it("ignores revisions that arrive late or again, and accepts a till that is pushed again after it expired", async () => {
    const reader = createReader();
    const locationId = locationIdOf(reader);
    const orderId = randomUUID();
    const reportId = await finalize(reader, { revision: 3, orderIds: [orderId] });
    const services = { db: service.db, changeWaiters: silentWaiters };
    const record = (change: Partial<Parameters<typeof recordReportChange>[1]>) =>
      recordReportChange(services, {
        ...{ locationId, reportId, revision: 3, kind: "stored", changedAt: "2026-06-01T00:00:00.000Z", orderIds: [] },
        ...change,
      });
    expect(await record({ revision: 2 })).toBe(false);
    expect(await record({ revision: 3 })).toBe(false);
    expect(await record({ kind: "expired", changedAt: "2036-06-01T00:00:00.000Z" })).toBe(true);
    expect(summarize(await readAll(reader)).slice(2)).toEqual([
      `report removed ${reportId}`,
      `order removed ${orderId}`,
    ]);
    expect(await record({ revision: 3, changedAt: "2026-06-01T00:00:00.000Z" })).toBe(false);
    expect(await record({ kind: "expired", changedAt: "2036-06-01T00:00:00.000Z" })).toBe(false);
    expect(await record({ revision: 1, changedAt: "2036-06-02T00:00:00.000Z", orderIds: [orderId] })).toBe(true);
    expect(summarize(await readAll(reader)).slice(2)).toEqual([
      `report created ${reportId}`,
      `order created ${orderId}`,
    ]);
  });

  it("contains changes of the catalog and of the location", async () => {
    const reader = createReader();
    const locationId = locationIdOf(reader);
    const { nextCursor: after } = await readPage(reader);
    const counts = { products: 1, payments: 0, taxes: 0, modifiers: 0, categories: 0 };
    await service.publishEvent("catalog.updated", { locationId, etag: '"1"', counts });
    await eventually("the catalog", async () => (await readAll(reader, { after })).length === 1);
    await service.publishEvent("location.updated", {
      ...{ locationId, application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
    });
    const changes = await eventually("the location", async () => {
      const all = await readAll(reader, { after });
      return all.length === 2 && all;
    });
    expect(summarize(changes)).toEqual([`catalog replaced ${locationId}`, `location replaced ${locationId}`]);
    expect(changes.map(({ revision }) => revision)).toEqual([2, 2]);
  });

  it("returns pages that end within the orders of a till, and continues there", async () => {
    const reader = createReader();
    const reportId = await finalize(reader, { orderIds: Array.from({ length: 7 }, () => randomUUID()) });
    const all = await readAll(reader);
    for (const size of [1, 2, 3, 9, 10]) expect(await readAll(reader, { size })).toEqual(all);
    for (const [index, { cursor }] of all.entries())
      expect(await readAll(reader, { after: cursor, size: 2 })).toEqual(all.slice(index + 1));
    // The row moves while a client is between its orders.
    const cursor = all[4]?.cursor ?? "";
    await finalize(reader, { reportId, revision: 2, orderIds: all.slice(3).map(({ id }) => id) });
    expect(summarize(await readAll(reader, { after: cursor, size: 3 }))).toEqual(
      all.slice(2).map(({ type, id }) => `${type} replaced ${id}`),
    );
  });

  it("begins at the end with `now`", async () => {
    const reader = createReader();
    await finalize(reader, {});
    const page = await readPage(reader, "after=now");
    expect(page).toMatchObject({ data: [], hasMore: false });
    const reportId = await finalize(reader, {});
    expect(summarize(await readAll(reader, { after: page.nextCursor }))).toEqual([`report created ${reportId}`]);
  });

  it("returns only the types that the key can read, and names the missing scopes", async () => {
    const reader = createReader({ scopes: ["reports:read", "catalog:read"] });
    await finalize(reader, { orderIds: [randomUUID()] });
    expect((await readAll(reader)).map(({ type }) => type)).toEqual(["catalog", "report"]);
    const path = "/v1/changes/?types=report,order,location";
    const problem = await service.requestProblem({ method: "GET", path, principal: reader });
    expect(problem).toMatchObject({ status: 403, code: "scope_missing" });
    expect(problem.detail).toMatch(/order requires the scope orders:read.*location requires the scope locations:read/);
  });

  it("contains each e-report once, for keys with the scope accounting:write", async () => {
    const reader = createReader({ scopes: [...scopes, "accounting:write"] });
    const locationId = locationIdOf(reader);
    const data = {
      ...{ locationId, siren: "732829320", kind: "payments" as const, period: "2027-09-01" },
      ...{ until: "2027-09-30", dueOn: "2027-10-10" },
    } as const;
    await service.publishEvent("e_report.ready", data);
    await service.publishEvent("e_report.changed", data);
    const [entry] = await eventually("the changed e-report", async () => {
      const changes = await readAll(reader, { types: "e_report" });
      return changes.some(({ action }) => action === "replaced") && changes;
    });
    expect(entry).toMatchObject({
      ...{ type: "e_report", revision: 2, locationId, id: "73282932-0000-8000-8002-000020270901" },
      href: "http://pragma.test/v1/e-reports/732829320/payments/2027-09-01",
    });
    const other = createReader({ location: reader.location });
    expect((await readAll(other)).map(({ type }) => type)).toEqual(["location", "catalog"]);
  });

  it("rejects cursors that were changed or are of another location, and cursors after the end", async () => {
    const [reader, other] = [createReader(), createReader()];
    await finalize(reader, {});
    const { nextCursor } = await readPage(reader);
    await readPage(other);
    const requestCode = async (principal: Principal, after: string) =>
      (await service.requestProblem({ method: "GET", path: `/v1/changes/?after=${after}`, principal })).code;
    for (const after of ["", "x", `${nextCursor}A`, nextCursor.slice(1), nextCursor.replace(/.$/, "-")])
      expect(await requestCode(reader, after), after).toBe("invalid_cursor");
    expect(await requestCode(other, nextCursor)).toBe("invalid_cursor");
    // As after a restore of the database from a backup.
    const { sql } = service.db;
    await sql`update change_positions set position = position - 1 where location_id = ${locationIdOf(reader)}`;
    expect(await requestCode(reader, nextCursor)).toBe("invalid_cursor");
  });

  it("lets an operator read the feed of one location, if it exists", async () => {
    const reader = createReader();
    const reportId = await finalize(reader, {});
    const operator = createReader({ location: null, scopes: ["admin"] });
    const changes = await readAll(operator, { types: "report,location" }).catch(() => undefined);
    expect(changes).toBeUndefined();
    const page = await readPage(operator, `locationId=${locationIdOf(reader)}`);
    expect(page.data.map(({ href }) => href)).toEqual([
      `http://pragma.test/v1/locations/${locationIdOf(reader)}`,
      `http://pragma.test/v1/catalog/?locationId=${locationIdOf(reader)}`,
      `http://pragma.test/v2/reports/${reportId}`,
    ]);
    const path = `/v1/changes/?locationId=${locationIdOf(reader)}`;
    expect(await service.requestProblem({ method: "GET", path, principal: createReader() })).toMatchObject({
      code: "location_forbidden",
    });
  });
});

describe("the feed of all locations", () => {
  const operator = createReader({ location: null, scopes: ["admin"] });
  const allLocations = "true";
  const findEnd = async () => (await readPage(operator, "allLocations=true&after=now")).nextCursor;

  it("contains the changes of all locations in the sequence in which they were stored, each report, order, catalog and location once", async () => {
    const after = await findEnd();
    const [reader, other] = [createReader(), createReader()];
    const orderId = randomUUID();
    const first = await finalize(reader, { orderIds: [orderId] });
    const second = await finalize(other, {});
    const third = await finalize(reader, {});
    const [locationId, otherId] = [reader, other].map(locationIdOf);
    const beginning = [
      ...[`location created ${locationId}`, `catalog created ${locationId}`],
      ...[`report created ${first}`, `order created ${orderId}`],
    ];
    const others = [
      ...[`location created ${otherId}`, `catalog created ${otherId}`],
      ...[`report created ${second}`, `report created ${third}`],
    ];
    const changes = await readAll(operator, { after, allLocations });
    expect(summarize(changes)).toEqual([...beginning, ...others]);
    expect(changes.map((change) => change.locationId)).toEqual([
      ...Array(4).fill(locationId),
      ...[otherId, otherId, otherId, locationId],
    ]);
    for (const size of [1, 2, 3]) expect(await readAll(operator, { after, allLocations, size })).toEqual(changes);
    for (const [index, { cursor }] of changes.entries())
      expect(await readAll(operator, { after: cursor, allLocations })).toEqual(changes.slice(index + 1));
    expect(summarize(await readAll(operator, { after, allLocations, types: "catalog,location" }))).toEqual([
      ...beginning.slice(0, 2),
      ...others.slice(0, 2),
    ]);

    await finalize(reader, { reportId: first, revision: 2 });
    expect(summarize(await readAll(operator, { after, allLocations }))).toEqual([
      ...[...beginning.slice(0, 2), ...others],
      ...[`report replaced ${first}`, `order removed ${orderId}`],
    ]);
    const end = changes.at(-1)?.cursor ?? "";
    expect(summarize(await readAll(operator, { after: end, allLocations }))).toEqual([
      ...[`report replaced ${first}`, `order removed ${orderId}`],
    ]);
  });

  it("requires the scope locations:any, and the scopes of the types", async () => {
    const requestProblem = (query: string, principal: Principal) =>
      service.requestProblem({ method: "GET", path: `/v1/changes/?allLocations=true${query}`, principal });
    expect(await requestProblem("", createReader())).toMatchObject({ status: 403, code: "location_forbidden" });
    const reader = createReader();
    await finalize(reader, { orderIds: [randomUUID()] });
    const after = await findEnd();
    const follower = createReader({ scopes: ["reports:read", "locations:any"] });
    expect(await requestProblem("&types=report,order", follower)).toMatchObject({ status: 403, code: "scope_missing" });
    const reportId = await finalize(reader, { orderIds: [randomUUID()] });
    expect(summarize(await readAll(follower, { after, allLocations }))).toEqual([`report created ${reportId}`]);
    // Without the parameter, a key with this scope follows its own location.
    await finalize(follower, {});
    expect((await readAll(follower)).map(({ locationId }) => locationId)).toEqual([locationIdOf(follower)]);
    expect(await requestProblem(`&locationId=${locationIdOf(reader)}`, operator)).toMatchObject({
      ...{ status: 400, code: "invalid_request" },
      errors: [{ in: "query", path: "locationId", code: "conflict" }],
    });
  });

  it("has cursors of its own, which are invalid in another installation and after its end", async () => {
    const reader = createReader({ scopes: [...scopes, "locations:any"] });
    await finalize(reader, {});
    const end = await findEnd();
    const { nextCursor } = await readPage(reader);
    const requestCode = async (query: string) =>
      (await service.requestProblem({ method: "GET", path: `/v1/changes/?${query}`, principal: reader })).code;
    expect(await requestCode(`after=${end}`)).toBe("invalid_cursor");
    expect(await requestCode(`allLocations=true&after=${nextCursor}`)).toBe("invalid_cursor");
    const { sql } = service.db;
    const [{ feedId }] = await sql<[{ feedId: string }]>`select feed_id from all_changes_position`;
    await sql`update all_changes_position set feed_id = gen_random_uuid()`;
    expect(await requestCode(`allLocations=true&after=${end}`)).toBe("invalid_cursor");
    await sql`update all_changes_position set feed_id = ${feedId}, position = position - 1`;
    expect(await requestCode(`allLocations=true&after=${end}`)).toBe("invalid_cursor");
    await sql`update all_changes_position set position = position + 1`;
  });

  it("wakes a request that waits when another instance stores a change of any location", async () => {
    const instance = await service.startAnotherInstance();
    const reader = createReader();
    await finalize(reader, {});
    const after = await findEnd();
    const startedAt = performance.now();
    const path = `/v1/changes/?allLocations=true&after=${after}&wait=20&types=report`;
    const waiting = instance.request("GET", path, { principal: operator });
    const reportId = await finalize(reader, {});
    const page = ChangePage.parse(await (await waiting).json());
    expect(summarize(page.data)).toEqual([`report created ${reportId}`]);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await instance.stop();
  });

  it("does not pass a change whose transaction is still open, and returns it afterwards", async () => {
    const after = await findEnd();
    const [reader, other] = [createReader(), createReader()];
    const services = { db: service.db, changeWaiters: silentWaiters };
    const record = (principal: Principal, reportId: string) =>
      recordReportChange(services, {
        ...{ locationId: locationIdOf(principal), reportId, revision: 1, kind: "stored", orderIds: [] },
        changedAt: "2026-06-01T00:00:00.000Z",
      });
    const [early, late] = [randomUUID(), randomUUID()];
    let readWhileOpen: Change[] = [];
    await service.db.transaction(async (tx) => {
      // This transaction takes its place in the queue first, and is committed last.
      const feed = await lockChangeFeed(tx, locationIdOf(reader));
      const row = { type: "report", id: early, position: feed.position + 1, action: "created", revision: 1 } as const;
      const noOrders = { orderIds: [], reassignedOrderIds: [], removedOrderIds: [] };
      await upsertLastChangeRow(tx, feed, { ...row, ...noOrders, changedAt: new Date() });
      await record(other, late);
      readWhileOpen = await readAll(operator, { after, allLocations, types: "report" });
    });
    expect(readWhileOpen.map(({ id }) => id)).toEqual([late]);
    const cursor = readWhileOpen[0]?.cursor ?? "";
    expect((await readAll(operator, { after: cursor, allLocations, types: "report" })).map(({ id }) => id)).toEqual([
      early,
    ]);
  });

  it("contains more changes than one batch has, and leaves out a location that is removed", async () => {
    const reader = createReader();
    const locationId = locationIdOf(reader);
    const after = await findEnd();
    await finalize(reader, {});
    const { sql } = service.db;
    await sql`
      with added as (
        insert into changes (location_id, type, id, position, action, revision, changed_at)
        select ${locationId}, 'report', gen_random_uuid(), 100 + number, 'created', 1, now()
        from generate_series(1, 2500) as number
        returning location_id, type, id, position
      )
      insert into unsequenced_changes (location_id, type, change_id, location_position)
      select location_id, type, id, position from added order by position`;
    const options = { after, allLocations, types: "report", size: 1_000 };
    const changes = await readAll(operator, options);
    expect(changes).toHaveLength(2_501);
    expect(new Set(changes.map(({ cursor }) => cursor)).size).toBe(2_501);
    await sql`delete from changes where location_id = ${locationId} and type = 'report'`;
    expect(await readAll(operator, options)).toEqual([]);
    for (const table of ["all_changes", "changes", "change_positions"])
      await sql`delete from ${sql(table)} where location_id = ${locationId}`;
  });
});

describe("the changes that are not in the feed of all locations yet", () => {
  it("are counted up to a limit, with the age of the oldest", async () => {
    await expect(
      service.db.transaction(async (tx) => {
        await tx`delete from unsequenced_changes`;
        expect([await countPendingChanges(tx, 10), await findOldestPendingChangeAgeSeconds(tx)]).toEqual([0, 0]);
        await tx`
          insert into unsequenced_changes (location_id, type, change_id, location_position, created_at)
          select gen_random_uuid(), 'report', gen_random_uuid(), 1, now() - make_interval(secs => 3700 - 100 * number)
          from generate_series(1, 20) as number`;
        expect(await findOldestPendingChangeAgeSeconds(tx)).toBeCloseTo(3_600, 1);
        expect([await countPendingChanges(tx, 10), await countPendingChanges(tx, 100)]).toEqual([10, 20]);
        throw new Error("rolled back");
      }),
    ).rejects.toThrow("rolled back");
  });
});

describe("a request that waits", () => {
  it("responds as soon as another instance stores a change of these types", async () => {
    const reader = createReader();
    const { nextCursor } = await readPage(reader);
    const startedAt = performance.now();
    const waiting = readPage(reader, `after=${nextCursor}&wait=20&types=report`);
    await service.publishEvent("catalog.updated", {
      ...{ locationId: locationIdOf(reader), etag: '"1"' },
      counts: { products: 1, payments: 0, taxes: 0, modifiers: 0, categories: 0 },
    });
    const reportId = await finalize(reader, {});
    expect(summarize((await waiting).data)).toEqual([`report created ${reportId}`]);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it("is woken by a poll if the notification is lost", async () => {
    const reader = createReader();
    const { nextCursor } = await readPage(reader);
    const waiting = readPage(reader, `after=${nextCursor}&wait=20`);
    await recordReportChange(
      { db: service.db, changeWaiters: silentWaiters },
      {
        ...{ locationId: locationIdOf(reader), reportId: randomUUID(), revision: 1, kind: "stored", orderIds: [] },
        changedAt: "2026-06-01T00:00:00.000Z",
      },
    );
    expect((await waiting).data).toHaveLength(1);
  });

  it("responds with an empty page and a cursor at the end of the time", async () => {
    const reader = createReader();
    const { nextCursor } = await readPage(reader);
    expect(await readPage(reader, `after=${nextCursor}&wait=1`)).toEqual({ data: [], nextCursor, hasMore: false });
  });

  it("is limited to ten for each key, and ends at once when the process stops", async () => {
    const reader = createReader();
    const { nextCursor } = await readPage(reader);
    const instance = await service.startAnotherInstance();
    const path = `/v1/changes/?after=${nextCursor}&wait=25`;
    const settled: Response[] = [];
    const waiting = Array.from({ length: 12 }, async () => {
      settled.push(await instance.request("GET", path, { principal: reader }));
    });
    await eventually("the requests above the limit", () => settled.length === 2);
    for (const response of settled.splice(0))
      expect(await response.json()).toMatchObject({ status: 429, code: "too_many_waiting_requests" });
    // The limit concerns neither other keys nor requests that do not wait.
    for (const [query, principal] of [
      [`after=${nextCursor}`, reader],
      [`after=${nextCursor}&wait=1`, { ...reader, keyId: randomUUID() }],
    ] as const)
      expect((await instance.request("GET", `/v1/changes/?${query}`, { principal })).status).toBe(200);
    const startedAt = performance.now();
    await Promise.all([...waiting, instance.stop()]);
    expect(settled.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(performance.now() - startedAt).toBeLessThan(8_000);
  });
});

/** Number of random histories. `CHANGE_RUNS` sets a longer run. */
const runs = Number(process.env.CHANGE_RUNS ?? 3);

describe("a follower that reads while changes arrive in any sequence", () => {
  it.each(Array.from({ length: runs }, () => randomInt(1_000_000)))(
    "has the same reports and orders as the tills at the end (run %i)",
    async () => {
      const reader = createReader();
      const locationId = locationIdOf(reader);
      const orderPool = Array.from({ length: 12 }, () => randomUUID() as string);
      const pickOrders = () => orderPool.filter(() => randomInt(4) === 0);
      // The last revision of each report has its final state; the events are shuffled.
      const reports = Array.from({ length: 6 }, () => ({ id: randomUUID() as string, revisions: 1 + randomInt(5) }));
      const final = new Map<string, string[] | undefined>();
      const events = reports.flatMap(({ id, revisions }) =>
        Array.from({ length: revisions }, (_, index) => {
          const isRemoval = index > 0 && randomInt(4) === 0;
          const orderIds = isRemoval ? [] : pickOrders();
          if (index === revisions - 1) final.set(id, isRemoval ? undefined : orderIds);
          return { reportId: id, revision: index + 1, orderIds, kind: isRemoval ? "removed" : "stored" } as const;
        }),
      );
      for (let index = events.length - 1; index > 0; index -= 1) {
        const other = randomInt(index + 1);
        [events[index], events[other]] = [events[other] as (typeof events)[0], events[index] as (typeof events)[0]];
      }

      const createCopy = () =>
        new Map<string, Set<string>>([
          ["report", new Set()],
          ["order", new Set()],
        ]);
      const copy = createCopy();
      // Another follower follows all locations.
      const operator = createReader({ location: null, scopes: ["admin"] });
      const copyOfAll = createCopy();
      let isDone = false;
      const seenCursors = new Set<string>();
      const follow = async (principal: Principal, copy: Map<string, Set<string>>, start?: string) => {
        let cursor = start;
        for (;;) {
          const wasDone = isDone;
          const query = new URLSearchParams({
            types: "report,order",
            size: `${1 + randomInt(9)}`,
            ...(principal === operator && { allLocations: "true" }),
            ...(cursor && { after: cursor }),
          });
          const page = await readPage(principal, `${query}`);
          // A follower that is killed before it has stored the page reads it again.
          if (randomInt(5) === 0) continue;
          for (const { type, id, action, cursor: entryCursor, locationId: entryLocationId } of page.data) {
            expect(entryLocationId).toBe(locationId);
            expect(seenCursors.has(entryCursor)).toBe(false);
            seenCursors.add(entryCursor);
            if (action === "removed") copy.get(type)?.delete(id);
            else copy.get(type)?.add(id);
          }
          cursor = page.nextCursor;
          if (wasDone && !page.hasMore) return;
        }
      };
      const { nextCursor } = await readPage(operator, "allLocations=true&after=now");
      const following = Promise.all([follow(reader, copy), follow(operator, copyOfAll, nextCursor)]);
      const services = { db: service.db, changeWaiters: silentWaiters };
      const write = async () => {
        for (let event = events.pop(); event; event = events.pop())
          await recordReportChange(services, { ...event, locationId, changedAt: new Date().toISOString() });
      };
      await Promise.all([write(), write(), write()]);
      isDone = true;
      await following;

      const present = [...final].filter(([, orderIds]) => orderIds !== undefined);
      expect([...(copy.get("report") ?? [])].sort()).toEqual(present.map(([id]) => id).sort());
      expect([...(copy.get("order") ?? [])].sort()).toEqual(
        [...new Set(present.flatMap(([, orderIds]) => orderIds ?? []))].sort(),
      );
      expect(copyOfAll).toEqual(copy);
      // A new follower has the same copy.
      const last = new Map((await readAll(reader)).map(({ type, id, action }) => [`${type} ${id}`, action]));
      const currentIds = [...last].filter(([key, action]) => /^(report|order)/.test(key) && action !== "removed");
      expect(currentIds).toHaveLength([...copy.values()].reduce((count, ids) => count + ids.size, 0));
    },
    60_000,
  );
});
