import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { lockInTransaction } from "@pragma/runtime/database/postgres";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { listPublishedTestEvents } from "@pragma/runtime/testing/published-events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reportingServiceConfigSchema } from "../config.ts";
import { packTill } from "../documents/packing/pack-till.ts";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../testing/start-test-reporting.ts";
import { buildTestOrder, buildTestTill } from "../testing/till-fixtures.ts";
import { removeExpiredTillsTask } from "./remove-expired-tills.ts";

let service: TestReportingService;
beforeAll(async () => {
  service = await startTestReportingService();
});
afterAll(() => service?.remove());

const log = createLogger({ name: "test", level: "silent" });
const runTask = (years: string | undefined) => {
  const config = reportingServiceConfigSchema.parse({ OBJECT_STORE: "file:/unused", REPORTS_KEPT_YEARS: years });
  return removeExpiredTillsTask.run({ db: service.db, objects: service.objects, log, config });
};

/** Returns noon of a day that was a number of years and days ago. */
function yearsAgo(years: number, days = 0): string {
  const date = new Date();
  date.setUTCFullYear(date.getUTCFullYear() - years);
  date.setUTCDate(date.getUTCDate() - days);
  return `${date.toISOString().slice(0, 10)}T12:00:00.000Z`;
}

const buildTillOfDay = (startedAt: string, orders = [buildTestOrder({ openedAt: startedAt })]) =>
  buildTestTill(orders, { startedAt, finalizedAt: startedAt });

async function countRows(locationId: string) {
  const { sql } = service.db;
  const [row] = await sql`
    select (select count(*) from tills where location_id = ${locationId}) as tills,
      (select count(*) from reports where location_id = ${locationId}) as reports,
      (select count(*) from orders where location_id = ${locationId}) as orders,
      (select count(*) from day_counts where location_id = ${locationId}) as days,
      (select count(*) from days where location_id = ${locationId}) as stored_days,
      (select count(*) from metric_totals where location_id = ${locationId}) as metric_totals,
      (select count(*) from metric_cells where location_id = ${locationId}) as metric_cells,
      (select coalesce(sum(count), 0) from day_counts where location_id = ${locationId} and kind = 'order') as counted`;
  return row;
}

describe("the task that removes expired tills", () => {
  it("removes tills of expired days with their reports, orders and counts, and no others", async () => {
    const principal = buildTestPrincipalWithScopes("reports:read", "orders:read");
    const { id } = principal.location;
    const [old, recent] = [buildTillOfDay(yearsAgo(3, 1)), buildTillOfDay(yearsAgo(3, -1))];
    await service.pushTills([old, recent], id);
    await runTask(undefined);
    await runTask("4");
    expect(await countRows(id)).toEqual({
      tills: 2,
      reports: 2,
      orders: 2,
      days: 4,
      storedDays: 2,
      metricTotals: 2,
      metricCells: 2,
      counted: 2,
    });

    await runTask("3");
    expect(await countRows(id)).toEqual({
      tills: 1,
      reports: 1,
      orders: 1,
      days: 2,
      storedDays: 1,
      metricTotals: 1,
      metricCells: 1,
      counted: 1,
    });
    const list = await service.request("GET", "/v2/reports/", { principal });
    expect(((await list.json()) as { meta: object }).meta).toMatchObject({ totalCount: 1 });
    const expired = await eventually("the till.expired event", async () => {
      const events = await listPublishedTestEvents(service.environment, "till.expired", old.id);
      return events.length > 0 && events;
    });
    expect(expired).toEqual([{ locationId: id, tillId: old.id, reportId: computeTillReportId(old.id), revision: 1 }]);
    expect(await listPublishedTestEvents(service.environment, "till.expired", recent.id)).toEqual([]);
  });

  it("keeps an order that a later till contains, too", async () => {
    const { location } = buildTestPrincipalWithScopes("orders:read");
    const order = buildTestOrder({ openedAt: yearsAgo(3, 1) });
    await service.pushTills([buildTillOfDay(yearsAgo(2), [order])], location.id);
    await service.pushTills([buildTillOfDay(yearsAgo(3, 1), [order])], location.id);
    await runTask("3");
    expect(await countRows(location.id)).toEqual({
      tills: 1,
      reports: 1,
      orders: 1,
      days: 2,
      storedDays: 1,
      metricTotals: 1,
      metricCells: 1,
      counted: 1,
    });
    const [row] = await service.db.sql`select is_current from orders where location_id = ${location.id}`;
    expect(row).toEqual({ isCurrent: true });
  });

  it("removes packed tills with their objects", async () => {
    const { location } = buildTestPrincipalWithScopes("orders:read");
    const order = buildTestOrder({ openedAt: yearsAgo(3, 1) });
    const [old, other] = [buildTillOfDay(yearsAgo(3, 1), [order]), buildTillOfDay(yearsAgo(3), [order])];
    // The copy of the order in the till that was pushed last is current.
    await service.pushTills([other], location.id);
    await service.pushTills([old], location.id);
    for (const { id: tillId } of [old, other])
      expect(await packTill(service, { locationId: location.id, tillId })).toBe(true);
    await runTask("3");
    expect(await countRows(location.id)).toEqual({
      tills: 1,
      reports: 1,
      orders: 1,
      days: 2,
      storedDays: 1,
      metricTotals: 1,
      metricCells: 1,
      counted: 1,
    });
    expect(await service.db.sql`select from packed_tills where location_id = ${location.id}`).toHaveLength(0);
    expect(await service.db.sql`select from unused_objects where location_id = ${location.id}`).toHaveLength(2);
  });

  it("removes training tills that were pushed as long ago", async () => {
    const { location } = buildTestPrincipalWithScopes("orders:read");
    const [old, recent] = [buildTestTill([], { isTraining: true }), buildTestTill([], { isTraining: true })];
    await service.pushTills([old, recent], location.id);
    await service.db.sql`update tills set pushed_at = ${yearsAgo(3, 1)} where till_id = ${old.id}`;
    await runTask("3");
    expect(await service.db.sql`select till_id from tills where location_id = ${location.id}`).toEqual([
      { tillId: recent.id },
    ]);
  });

  it("waits for a revision of the same location that is being stored", async () => {
    const { location } = buildTestPrincipalWithScopes("orders:read");
    await service.pushTills([buildTillOfDay(yearsAgo(3, 1))], location.id);
    let removal: Promise<void> | undefined;
    await service.db.transaction(async (tx) => {
      await lockInTransaction(tx, service.db, `location ${location.id}`);
      removal = runTask("3");
      await eventually("the removal to wait for the lock", async () => {
        const [waiting] = await tx`
          select 1 from pg_locks waiting join pg_locks held using (locktype, classid, objid)
          where locktype = 'advisory' and not waiting.granted and held.pid = pg_backend_pid()`;
        return waiting !== undefined;
      });
      expect(await countRows(location.id)).toMatchObject({ tills: 1 });
    });
    await removal;
    expect(await countRows(location.id)).toMatchObject({ tills: 0 });
  });

  it("keeps counts exact while tills of the same days are pushed, and removes these in the next run", async () => {
    const { location } = buildTestPrincipalWithScopes("orders:read");
    const tills = Array.from({ length: 20 }, () => buildTillOfDay(yearsAgo(3, 1)));
    await service.pushTills(tills.slice(0, 10), location.id);
    await Promise.all([
      ...tills.slice(10).map((till) => service.pushTills([till], location.id)),
      runTask("3"),
      runTask("3"),
    ]);
    const during = await countRows(location.id);
    expect(during?.counted).toBe(during?.orders);
    await runTask("3");
    expect(await countRows(location.id)).toEqual({
      tills: 0,
      reports: 0,
      orders: 0,
      days: 0,
      storedDays: 0,
      metricTotals: 0,
      metricCells: 0,
      counted: 0,
    });
    // The same till can be pushed again, and is removed again.
    await service.pushTills(tills.slice(0, 1), location.id);
    expect(await countRows(location.id)).toMatchObject({ reports: 1 });
    await runTask("3");
    expect(await countRows(location.id)).toMatchObject({ tills: 0, days: 0 });
  });
});
