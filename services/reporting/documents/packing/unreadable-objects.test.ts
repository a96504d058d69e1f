import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { createLogger } from "@pragma/runtime/observability/logger";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reportingServiceConfigSchema } from "../../config.ts";
import { countTillRemovalErrors, removeExpiredTillsTask } from "../../retention/remove-expired-tills.ts";
import { createReportingOperatorRoutes } from "../../service.ts";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../../testing/start-test-reporting.ts";
import { buildTestOrder, buildTestTill } from "../../testing/till-fixtures.ts";
import { countLostPackedTills } from "../queries/packed-tills.ts";
import { findReportFinalizedEventData } from "../queries/reports.ts";
import { packTill } from "./pack-till.ts";
import { countUnreadableObjects } from "./packed-object.ts";

type TestTill = ReturnType<typeof buildTestTill>;
type TestOrder = ReturnType<typeof buildTestOrder>;
type TestPrincipal = ReturnType<typeof buildTestPrincipalWithScopes>;

let service: TestReportingService;
const log = createLogger({ name: "test", level: "silent" });

beforeAll(async () => {
  // The service itself packs nothing.
  service = await startTestReportingService({ HOT_DAYS: "36500" });
});
afterAll(() => service?.remove());

const newPrincipal = () => buildTestPrincipalWithScopes("reports:read", "orders:read");
const buildTill = (startedAt: string, sharedOrders: TestOrder[] = []) =>
  buildTestTill([buildTestOrder({ openedAt: startedAt }), buildTestOrder({ openedAt: startedAt }), ...sharedOrders], {
    startedAt,
    finalizedAt: startedAt,
  });

/** How an object of a packed till becomes unreadable. */
const faults = {
  missing: (key: string) => service.objects.delete(key),
  damaged: (key: string) => service.objects.put(key, Buffer.from("other bytes")),
};
type Fault = keyof typeof faults;

async function pack({ location }: TestPrincipal, ...tills: TestTill[]): Promise<void> {
  for (const { id: tillId } of tills) expect(await packTill(service, { locationId: location.id, tillId })).toBe(true);
}

async function breakObject(fault: Fault, till: TestTill): Promise<string> {
  const [row] = await service.db.sql<{ objectKey: string }[]>`
    select object_key from packed_tills where till_id = ${till.id}`;
  const objectKey = row?.objectKey ?? expect.unreachable("the till is packed");
  await faults[fault](objectKey);
  return objectKey;
}

async function read(principal: TestPrincipal, path: string) {
  const response = await service.request("GET", path, { principal });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const pathsOf = ({ id, orderList }: TestTill) => [
  `/v1/reports/${computeTillReportId(id)}`,
  `/v2/reports/${computeTillReportId(id)}`,
  ...orderList.flatMap((order) => [`/v1/orders/${order.id}`, `/v2/orders/${order.id}`]),
];

const readStatuses = (principal: TestPrincipal, paths: string[]) =>
  Promise.all(paths.map(async (path) => (await read(principal, path)).status));

/** Returns responses without what every revision changes. */
const readAll = (principal: TestPrincipal, till: TestTill) =>
  Promise.all(
    pathsOf(till).map(async (path) => {
      const { status, body } = await read(principal, path);
      return [path, status, { ...body, updatedAt: null }];
    }),
  );

/** Expects that each order has one current copy, and that the counts by day are those of the stored reports and orders. */
async function expectConsistency({ location }: TestPrincipal): Promise<void> {
  const { sql } = service.db;
  const orders = sql`(
    select id, day, is_current from orders where location_id = ${location.id}
    union all select unnest(ids), day, is_current from packed_orders where location_id = ${location.id}
  ) as orders`;
  expect(
    await sql`select id, count(*) from ${orders} group by id having count(*) filter (where is_current) <> 1`,
  ).toEqual([]);
  const counted = await sql`
    select kind, day::text as day, count from day_counts where location_id = ${location.id} and count > 0
    order by kind, day`;
  const stored = await sql`
    select 'order' as kind, day::text as day, count(*) from ${orders} where is_current group by day
    union all select 'report', day::text, count(*) from reports where location_id = ${location.id} group by day
    order by kind, day`;
  expect(counted).toEqual(stored);
}

async function countRows({ location }: TestPrincipal) {
  const { sql } = service.db;
  const [row] = await sql`
    select (select count(*) from tills where location_id = ${location.id}) as tills,
      (select count(*) from reports where location_id = ${location.id}) as reports,
      (select count(*) from packed_tills where location_id = ${location.id}) as packed,
      (select count(*) from unused_objects where location_id = ${location.id}) as unused`;
  return row;
}

describe.each<Fault>(["missing", "damaged"])("when the object of a packed till is %s", (fault) => {
  it("the till can be replaced and reprocessed, and keeps its creation times", async () => {
    const principal = newPrincipal();
    const till = buildTill("2020-03-01T10:00:00.000Z");
    await service.pushTills([till], principal.location.id);
    const before = await readAll(principal, till);
    for (const revision of [2, 3]) {
      await pack(principal, till);
      await breakObject(fault, till);
      expect(new Set(await readStatuses(principal, pathsOf(till)))).toEqual(new Set([503]));
      await service.pushTills([till], principal.location.id, { revision });
      expect(await readAll(principal, till)).toEqual(before);
      expect(await countRows(principal)).toMatchObject({ tills: 1, reports: 1, packed: 0, unused: revision - 1 });
      await expectConsistency(principal);
    }
  });

  it("the till can become a till in training mode", async () => {
    const principal = newPrincipal();
    const till = buildTill("2020-03-01T10:00:00.000Z");
    await service.pushTills([till], principal.location.id);
    await pack(principal, till);
    await breakObject(fault, till);
    await service.pushTills([{ ...till, isTraining: true }], principal.location.id, { revision: 2 });
    expect(await countRows(principal)).toMatchObject({ reports: 0, packed: 0, unused: 1 });
    await expectConsistency(principal);
  });

  it("another till with one of its orders gets its report, and reprocessing repairs the till", async () => {
    const principal = newPrincipal();
    const shared = buildTestOrder({ openedAt: "2020-03-01T12:00:00.000Z" });
    const broken = buildTill("2020-03-01T10:00:00.000Z", [shared]);
    const later = buildTill("2020-03-02T10:00:00.000Z", [shared]);
    await service.pushTills([broken], principal.location.id);
    const { createdAt } = (await read(principal, `/v1/orders/${shared.id}`)).body;
    const before = await readAll(principal, broken);
    await pack(principal, broken);
    await breakObject(fault, broken);

    await service.pushTills([later], principal.location.id);
    expect(new Set(await readStatuses(principal, pathsOf(later)))).toEqual(new Set([200]));
    expect((await read(principal, `/v1/orders/${shared.id}`)).body).toMatchObject({
      reportId: computeTillReportId(later.id),
      createdAt,
    });
    await expectConsistency(principal);
    // Orders that the lost till alone contains are not left out of lists, and have no wrong response.
    const lostPaths = pathsOf(broken).filter((path) => !path.includes(shared.id));
    const lists = ["/v1/orders/", "/v1/reports/", `/v1/orders/?reportId=${computeTillReportId(broken.id)}`];
    expect(new Set(await readStatuses(principal, [...lostPaths, ...lists]))).toEqual(new Set([503]));

    await service.pushTills([broken], principal.location.id, { revision: 2 });
    const withoutShared = (responses: unknown[][]) => responses.filter(([path]) => !`${path}`.includes(shared.id));
    expect(withoutShared(await readAll(principal, broken))).toEqual(withoutShared(before));
    expect(new Set(await readStatuses(principal, lists))).toEqual(new Set([200]));
    expect(await countRows(principal)).toMatchObject({ tills: 2, reports: 2, packed: 0, unused: 1 });
    await expectConsistency(principal);
    // Both can be packed again.
    await pack(principal, broken, later);
    await expectConsistency(principal);
  });
});

/** Returns noon of a day that was a number of years and days ago. */
function yearsAgo(years: number, days = 0): string {
  const date = new Date();
  date.setUTCFullYear(date.getUTCFullYear() - years);
  date.setUTCDate(date.getUTCDate() - days);
  return `${date.toISOString().slice(0, 10)}T12:00:00.000Z`;
}

const runRetention = (objects = service.objects) => {
  const config = reportingServiceConfigSchema.parse({ OBJECT_STORE: "file:/unused", REPORTS_KEPT_YEARS: "3" });
  return removeExpiredTillsTask.run({ db: service.db, objects, log, config });
};

it("the event of its current revision can be repeated, which publishes the same data", async () => {
  const principal = newPrincipal();
  const till = buildTill("2020-03-01T10:00:00.000Z");
  const key = { locationId: principal.location.id, tillId: till.id };
  const readFinalized = async () => {
    const data = await service.db.transaction((tx) => findReportFinalizedEventData(tx, key));
    return { ...data, orderIds: data?.orderIds.toSorted() };
  };
  await service.pushTills([till], key.locationId);
  const before = await readFinalized();
  await pack(principal, till);
  await breakObject("missing", till);
  await service.pushTills([till], key.locationId);
  expect(await readFinalized()).toEqual(before);
  expect(await countRows(principal)).toMatchObject({ reports: 1, packed: 1 });
});

it("orders are neither lost nor doubled while tills with common orders change and their objects disappear", async () => {
  const principal = newPrincipal();
  const locationId = principal.location.id;
  const shared = [1, 2].map((hour) => buildTestOrder({ openedAt: `2020-03-01T1${hour}:00:00.000Z` }));
  const tills = [shared, shared.slice(0, 1), shared.slice(1), []].map((orders) =>
    buildTill("2020-03-01T10:00:00.000Z", orders),
  );
  await service.pushTills(tills, locationId);
  for (let revision = 2; revision < 10; revision += 1) {
    for (const { id: tillId } of tills) await packTill(service, { locationId, tillId });
    const objects = await service.db.sql<{ objectKey: string }[]>`
      select object_key from packed_tills where location_id = ${locationId}`;
    for (const { objectKey } of objects) if (Math.random() < 0.5) await faults.missing(objectKey);
    const changed = tills.filter(() => Math.random() < 0.5);
    await Promise.all(changed.map((till) => service.pushTills([till], locationId, { revision })));
    await expectConsistency(principal);
  }
  await service.pushTills(tills, locationId, { revision: 10 });
  await expectConsistency(principal);
  expect(new Set(await readStatuses(principal, tills.flatMap(pathsOf)))).toEqual(new Set([200]));
  expect(await countRows(principal)).toMatchObject({ tills: 4, reports: 4, packed: 0 });
});

it("operators see unreadable and lost packed tills of all locations, and no others", async () => {
  const principal = newPrincipal();
  const locationId = principal.location.id;
  const shared = buildTestOrder({ openedAt: "2020-03-01T12:00:00.000Z" });
  const [missing, damaged, lost, readable] = [[], [], [shared], []].map((orders: TestOrder[]) =>
    buildTill("2020-03-01T10:00:00.000Z", orders),
  ) as [TestTill, TestTill, TestTill, TestTill];
  await service.pushTills([missing, damaged, lost, readable], locationId);
  await pack(principal, missing, damaged, lost, readable);
  const objectKey = await breakObject("missing", missing);
  await breakObject("damaged", damaged);
  await breakObject("damaged", lost);
  const lostBefore = await countLostPackedTills(service.db.sql);
  const unreadableBefore = countUnreadableObjects();
  await service.pushTills([buildTill("2020-03-02T10:00:00.000Z", [shared])], locationId);
  expect((await countLostPackedTills(service.db.sql)) - lostBefore).toBe(1);
  expect(countUnreadableObjects() - unreadableBefore).toBe(1);

  const operations = createReportingOperatorRoutes(service);
  const unreadable: { locationId: string; tillId: string; reason: string }[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const response = await operations.request(`/packed-tills/check?after=${after}`);
    const page = (await response.json()) as { unreadable: typeof unreadable; next: string | null };
    unreadable.push(...page.unreadable);
    after = page.next;
  }
  const reasons = new Map(
    unreadable.filter((till) => till.locationId === locationId).map(({ tillId, reason }) => [tillId, reason]),
  );
  expect(reasons).toEqual(
    new Map([
      [missing.id, expect.stringContaining(`${objectKey} of the packed till ${missing.id}`)],
      [damaged.id, expect.stringContaining("is damaged")],
      [lost.id, expect.stringContaining("is lost")],
    ]),
  );
  for (const till of [missing, damaged]) {
    const count = countUnreadableObjects();
    await read(principal, `/v1/orders/${till.orderList[0]?.id}`);
    expect(countUnreadableObjects() - count).toBe(1);
  }
  await service.pushTills([lost], locationId, { revision: 2 });
  expect(await countLostPackedTills(service.db.sql)).toBe(lostBefore);
});

describe("the retention of packed tills", () => {
  it("removes expired tills without reading their objects", async () => {
    const principal = newPrincipal();
    const shared = buildTestOrder({ openedAt: yearsAgo(3, 2) });
    // The later till has the current copy of the common order, and is not expired.
    const [first, second] = [buildTill(yearsAgo(3, 2), [shared]), buildTill(yearsAgo(3, 1))];
    const later = buildTill(yearsAgo(2), [shared]);
    for (const till of [first, second, later]) await service.pushTills([till], principal.location.id);
    await pack(principal, first, second, later);
    const get = () => Promise.reject(new Error("The object store must not be read."));
    await runRetention({ ...service.objects, get });
    expect(await countRows(principal)).toEqual({ tills: 1, reports: 1, packed: 1, unused: 2 });
    expect(new Set(await readStatuses(principal, pathsOf(later)))).toEqual(new Set([200]));
    await expectConsistency(principal);
  });

  it("makes the copy of a later till current when it removes the current copy, which is unreadable", async () => {
    const principal = newPrincipal();
    const shared = buildTestOrder({ openedAt: yearsAgo(3, 1) });
    const [expired, later] = [buildTill(yearsAgo(3, 1), [shared]), buildTill(yearsAgo(2), [shared])];
    for (const till of [later, expired]) await service.pushTills([till], principal.location.id);
    await pack(principal, expired, later);
    await breakObject("missing", expired);
    await runRetention();
    expect(await countRows(principal)).toMatchObject({ tills: 1, reports: 1 });
    expect(new Set(await readStatuses(principal, pathsOf(later)))).toEqual(new Set([200]));
    await expectConsistency(principal);
  });

  it("removes other tills when one cannot be removed, and this one after the repair", async () => {
    const [principal, other] = [newPrincipal(), newPrincipal()];
    const shared = buildTestOrder({ openedAt: yearsAgo(3, 2) });
    const [blocked, unreadable] = [buildTill(yearsAgo(3, 2), [shared]), buildTill(yearsAgo(2), [shared])];
    const next = buildTill(yearsAgo(3, 1));
    for (const till of [unreadable, blocked, next]) await service.pushTills([till], principal.location.id);
    await service.pushTills([next], other.location.id);
    await pack(principal, blocked, unreadable, next);
    await breakObject("damaged", unreadable);
    const errorsBefore = countTillRemovalErrors();
    await runRetention();
    expect(await countRows(principal)).toMatchObject({ tills: 2, reports: 2, packed: 2 });
    expect(await countRows(other)).toMatchObject({ tills: 0, reports: 0 });
    expect(countTillRemovalErrors() - errorsBefore).toBe(1);
    await expectConsistency(principal);

    await service.pushTills([unreadable], principal.location.id, { revision: 2 });
    await runRetention();
    expect(await countRows(principal)).toMatchObject({ tills: 1, reports: 1 });
    expect(new Set(await readStatuses(principal, pathsOf(unreadable)))).toEqual(new Set([200]));
    await expectConsistency(principal);
  });
});
