import { Metrics } from "@pragma/contracts/metrics";
import { OrderV2 } from "@pragma/contracts/order-data";
import { ReportV2 } from "@pragma/contracts/report-v2";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectMetricsToEqual, type StoredTillMetrics } from "../testing/expect-metrics.ts";
import { randomTills } from "../testing/random-tills.ts";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../testing/start-test-reporting.ts";
import { buildTestOrder, buildTestOrderPaymentRow, buildTestTill } from "../testing/till-fixtures.ts";
import { mergeMetricMonths } from "./periodic/merge-metric-months.ts";

const timeZone = "Europe/Paris";
const log = createLogger({ name: "test", level: "silent" });

let service: TestReportingService;
beforeAll(async () => {
  service = await startTestReportingService({ HOT_DAYS: "36500" });
});
afterAll(() => service?.remove());

const newPrincipal = () => buildTestPrincipalWithScopes("reports:read", "orders:read");
type TestPrincipal = ReturnType<typeof newPrincipal>;

const keyColumns = ["location_id", "day", "month", "till_id"];
const withoutKeys = <Row extends object>(row: Row) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !keyColumns.includes(name)));

interface StoredFigures extends StoredTillMetrics {
  day: string;
}

/** Returns the stored figures of the tills of a location, by till. */
async function readStoredMetrics(locationId: string): Promise<Record<string, StoredFigures>> {
  const rows = await service.db.sql<{ tillId: string; day: string; totals: object; cells: object }[]>`
    select till_id, day::text as day, to_jsonb(metric_totals) as totals, to_jsonb(metric_cells) as cells
    from metric_totals full join metric_cells using (location_id, day, till_id) where location_id = ${locationId}`;
  const entries = rows.map(({ tillId, day, totals, cells }) => {
    return [tillId, { day, totals: withoutKeys(totals), cells: withoutKeys(cells) }] as const;
  });
  return Object.fromEntries(entries) as Record<string, StoredFigures>;
}

/** Compares the figures of a location's tills with the reports and orders that the API returns. */
async function expectStoredMetricsToEqualReports(principal: TestPrincipal, tills: TillV2[]): Promise<void> {
  const read = async (path: string) => (await service.request("GET", path, { principal })).json();
  const stored = await readStoredMetrics(principal.location.id);
  expect(Object.keys(stored).sort()).toEqual(tills.map(({ id }) => id).sort());
  for (const till of tills) {
    const { day, ...metrics } = stored[till.id] ?? expect.unreachable();
    const report = ReportV2.parse(await read(`/v2/reports/${computeTillReportId(till.id)}`));
    const orders = await Promise.all(
      report.orders.map(async ({ id }) => OrderV2.parse(await read(`/v2/orders/${id}`))),
    );
    expect(day).toBe(report.startedAt.slice(0, 10));
    expectMetricsToEqual(metrics, report, orders, timeZone);
  }
}

describe("the figures of tills", () => {
  it("equal their reports after tills were stored, replaced, erased, moved to training mode and stored again", async () => {
    const principal = newPrincipal();
    const { id: locationId } = principal.location;
    const [first, second, third, fourth, fifth] = fc.sample(randomTills, { numRuns: 5, seed: 5 }) as [
      TillV2,
      TillV2,
      TillV2,
      TillV2,
      TillV2,
    ];
    await service.pushTills([first, second, third, fourth], locationId);
    await expectStoredMetricsToEqualReports(principal, [first, second, third, fourth]);

    const replaced = { ...fifth, id: first.id };
    await service.pushTills([replaced], locationId, { revision: 2 });
    await service.pushTills([{ ...second, isTraining: true }], locationId, { revision: 2 });
    await service.pushTills([third], locationId, { revision: 2, erasedRevision: 2 });
    await expectStoredMetricsToEqualReports(principal, [replaced, third, fourth]);

    await service.pushTills([second], locationId, { revision: 3 });
    await expectStoredMetricsToEqualReports(principal, [replaced, second, third, fourth]);
  });

  it("count an order in each till that contains it, as the reports do", async () => {
    const principal = newPrincipal();
    const order = buildTestOrder({ total: 1_100, paymentRowList: [buildTestOrderPaymentRow()] });
    const tills = [buildTestTill([order]), buildTestTill([order])];
    await service.pushTills(tills, principal.location.id);
    const stored = await readStoredMetrics(principal.location.id);
    for (const { id } of tills) expect(stored[id]?.totals).toMatchObject({ sales: 1_100, orders: 1, payments: 1_100 });
  });

  it("are stored together with the report or not at all", async () => {
    const principal = newPrincipal();
    const { id: locationId } = principal.location;
    const { sql } = service.db;
    const till = buildTestTill([buildTestOrder({ total: 1_100 })]);
    await sql.unsafe(
      `alter table metric_cells add constraint rejected check (location_id <> '${locationId}') not valid`,
    );
    const pushed = service.pushTills([till], locationId);
    await eventually("a failed attempt", async () => (await sql`select from event_attempts`).length > 0);
    expect(await sql`select from reports where location_id = ${locationId}`).toHaveLength(0);
    expect(await readStoredMetrics(locationId)).toEqual({});
    await sql`alter table metric_cells drop constraint rejected`;
    await pushed;
    await expectStoredMetricsToEqualReports(principal, [till]);
  });
});

describe("the figures of a past month", () => {
  it("are those of its tills, and are deleted when a report of the month changes", async () => {
    const principal = newPrincipal();
    const { id: locationId } = principal.location;
    const { sql } = service.db;
    const tills = fc.sample(randomTills, { numRuns: 6, seed: 6 }) as [TillV2, ...TillV2[]];
    const recent = buildTestTill([], { startedAt: new Date().toISOString() });
    await service.pushTills([...tills, recent], locationId);
    const readMonths = async () => {
      const rows = await sql<{ month: string; cells: object }[]>`
        select month::text as month, to_jsonb(metric_months) as cells from metric_months
        where location_id = ${locationId} order by month`;
      return rows;
    };
    // The reports have just changed.
    await mergeMetricMonths({ db: service.db, log });
    expect(await readMonths()).toEqual([]);

    await sql`update reports set updated_at = now() - interval '2 days' where location_id = ${locationId}`;
    await mergeMetricMonths({ db: service.db, log }, { nowMs: Date.now() + 7 * 3_600_000 });
    const months = await readMonths();
    const stored = Object.values(await readStoredMetrics(locationId));
    const monthsOfTills = new Set(tills.map(({ startedAt }) => `${startedAt.slice(0, 7)}-01`));
    expect(months.map(({ month }) => month)).toEqual([...monthsOfTills].sort());
    for (const { month, cells } of months) {
      const inMonth = stored.filter(({ day }) => day.startsWith(month.slice(0, 7)));
      expect(listFigures([withoutKeys(cells) as StoredFigures["cells"]])).toEqual(
        listFigures(inMonth.map((till) => till.cells)),
      );
    }

    const deletesMonth = async (change: () => Promise<unknown>) => {
      await change();
      expect((await readMonths()).map(({ month }) => month)).not.toContain(`${tills[0].startedAt.slice(0, 7)}-01`);
      await sql`update reports set updated_at = now() - interval '2 days' where location_id = ${locationId}`;
      await mergeMetricMonths({ db: service.db, log }, { nowMs: Date.now() + 14 * 3_600_000 });
      expect((await readMonths()).map(({ month }) => month)).toContain(`${tills[0].startedAt.slice(0, 7)}-01`);
    };
    const { startedAt } = tills[0];
    await deletesMonth(() => service.pushTills([tills[0]], locationId, { revision: 2 }));
    await deletesMonth(() => service.pushTills([{ ...recent, startedAt }], locationId, { revision: 2 }));
    const added = buildTestTill([], { startedAt });
    await deletesMonth(() => service.pushTills([added], locationId));
    await deletesMonth(() => service.pushTills([{ ...added, isTraining: true }], locationId, { revision: 2 }));
  });

  it("state how many reports lack products by hour, because they were computed before these figures existed", async () => {
    const principal = newPrincipal();
    const { id: locationId } = principal.location;
    service.accounts.addLocation({ id: locationId });
    const { sql } = service.db;
    const startedAt = "2026-03-10T11:00:00.000Z";
    const buildTill = () => buildTestTill([buildTestOrder({ total: 1_100, openedAt: startedAt })], { startedAt });
    const [earlier, later] = [buildTill(), buildTill()];
    await service.pushTills([earlier, later], locationId);
    const asked = "since=2026-03-01&until=2026-03-31&measures=sales,quantity";
    const read = async (dimensions: string) =>
      service.getJson(`/v1/metrics/?${asked}&dimensions=${dimensions}`, Metrics, principal);
    const sum = ({ totals, missingReportCount }: Metrics) => [totals[0]?.values, missingReportCount];
    const [complete] = sum(await read("product"));
    expect(sum(await read("hour,product"))).toEqual([complete, 0]);

    const [{ columns = "" } = {}] = await sql<{ columns: string }[]>`
      select string_agg(attname || ' = null', ', ') as columns from pg_attribute
      where attrelid = 'metric_cells'::regclass and attname like 'service\_%'`;
    await sql.unsafe(`update metric_cells set ${columns} where till_id = '${earlier.id}'`);
    const half = Object.fromEntries(Object.entries(complete ?? {}).map(([name, value]) => [name, Number(value) / 2]));
    expect(sum(await read("product"))).toEqual([complete, 0]);
    expect(sum(await read("hour,product"))).toEqual([half, 1]);
    await sql`update reports set updated_at = now() - interval '2 days' where location_id = ${locationId}`;
    await mergeMetricMonths({ db: service.db, log }, { nowMs: Date.now() + 21 * 3_600_000 });
    expect(await sql`select from metric_months where location_id = ${locationId}`).toHaveLength(1);
    expect(sum(await read("month,product"))).toEqual([complete, 0]);
    expect(sum(await read("hour,product"))).toEqual([half, 1]);

    await service.pushTills([earlier], locationId, { revision: 2 });
    expect(sum(await read("hour,product"))).toEqual([complete, 0]);
  });
});

/** Returns what cells contain without their numbers and sequence: sums by all dimensions, with those of their orders. */
function listFigures(all: Record<string, unknown[]>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const cells of all) {
    const dimensionsOf = (family: string, index: number): string =>
      Object.keys(cells)
        .filter((name) => name.startsWith(`${family}_`) && isDimension(name))
        .map((name) =>
          /_(order|product)_cell$/.test(name)
            ? dimensionsOf(name.endsWith("_order_cell") ? "order" : "product", Number(cells[name]?.[index]) - 1)
            : JSON.stringify(cells[name]?.[index]),
        )
        .join(" ");
    for (const [name, values] of Object.entries(cells)) {
      const family = name.slice(0, name.indexOf("_"));
      if (isDimension(name)) continue;
      for (const [index, value] of values.entries()) {
        const key = `${name} ${dimensionsOf(family, index)}`;
        sums[key] = (sums[key] ?? 0) + Number(value);
      }
    }
  }
  return sums;
}

const isDimension = (column: string) =>
  /_(hour|name|type|channel|id|category|subcategory|rate|cell|mode|reason|gifted|bill)$/.test(column);
