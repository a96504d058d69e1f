import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestReportingService, type TestReportingService } from "../../testing/start-test-reporting.ts";
import { adjustDayCounts } from "./day-counts.ts";
import { type DocumentPosition, type DocumentStores, findDocumentPage } from "./document-pages.ts";

const orderCountByDay = { "2026-03-01": 3, "2026-03-02": 1_400, "2026-03-03": 0, "2026-03-04": 1, "2026-03-07": 900 };
const locationId = randomUUID();
let service: TestReportingService;
let stores: DocumentStores;
/** The positions of all current orders, newest first. */
let allOrders: DocumentPosition[];

beforeAll(async () => {
  service = await startTestReportingService();
  stores = { sql: service.db.sql, objects: service.objects };
  for (const [day, count] of Object.entries(orderCountByDay)) await addOrders(day, count);
  // A day that no longer has any orders keeps its row in day_counts.
  const removed = await addOrders("2026-03-03", 5);
  await service.db.transaction(async (tx) => {
    await tx`update orders set is_current = false where day = '2026-03-03'`;
    await adjustDayCounts(tx, {
      locationId,
      report: { before: [], after: [] },
      order: { before: removed.map(({ day }) => day), after: [] },
    });
  });
  allOrders = await service.db.sql<DocumentPosition[]>`
    select id, day::text as day, to_json(opened_at at time zone 'utc')#>>'{}' || 'Z' as at from orders
    where is_current order by day desc, opened_at desc, id desc`;
});
afterAll(() => service?.remove());

async function addOrders(day: string, count: number): Promise<DocumentPosition[]> {
  const tillId = randomUUID();
  return service.db.transaction(async (tx) => {
    await tx`insert into tills (till_id, location_id, revision, hash, pushed_at) values (${tillId}, ${locationId}, 1, '', now())`;
    // Up to three orders have the same opening time, so that these orders are sorted by id.
    const orders = await tx<DocumentPosition[]>`
      insert into orders
        (till_id, location_id, id, report_id, day, opened_at, created_at, updated_at, pushed_at, etag, v1, v2_deflated)
      select ${tillId}, ${locationId}, id, ${tillId}, ${day}::date, ${day}::date + interval '8 hours' + (number / 3) * interval '1 second',
        now(), now(), now(), '', '"' || id || '"', ''
      from (select number, gen_random_uuid() as id from generate_series(1, ${count}::int) as number) as generated
      returning id, day::text as day, to_json(opened_at at time zone 'utc')#>>'{}' || 'Z' as at`;
    await adjustDayCounts(tx, {
      locationId,
      report: { before: [], after: [] },
      order: { before: [], after: orders.map(({ day }) => day) },
    });
    return orders;
  });
}

it("ends a page at the byte limit, and continues after its last item", async () => {
  const filter = { locationId, kind: "order" as const, since: null, until: null, reportId: null, tillId: null };
  const ids: string[] = [];
  for (let after: DocumentPosition | null = null; ids.length < 300; ) {
    // The body of each order is a quoted UUID of 38 bytes, so a page of at most 38 * 7 bytes has 7 orders.
    const page = await findDocumentPage(stores, filter, {
      after,
      offset: 0,
      limit: 100,
      body: "v1",
      maxBytes: 38 * 7,
    });
    expect(page.items).toHaveLength(7);
    ids.push(...JSON.parse(`[${page.items}]`));
    after = page.last;
  }
  expect(ids).toEqual(allOrders.slice(0, ids.length).map(({ id }) => id));
  const small = { after: null, offset: 5, limit: 100, body: "v1", maxBytes: 1 };
  expect(await findDocumentPage(stores, filter, small)).toMatchObject({
    items: [Buffer.from(`"${allOrders[5]?.id}"`)],
  });
});

describe.each([
  ["of all days", null, null],
  ["since a day", "2026-03-02", null],
  ["until a day", null, "2026-03-04"],
  ["of one day", "2026-03-02", "2026-03-02"],
  ["of a day whose orders were removed", "2026-03-03", "2026-03-03"],
  ["of days without orders", "2026-03-05", "2026-03-06"],
])("a list %s", (_, since, until) => {
  it.each([1_000, 97, 13])("returns the same pages of %i by index and by token", async (size) => {
    const expectedIds = allOrders
      .filter(({ day }) => day >= (since ?? day) && day <= (until ?? day))
      .map(({ id }) => id);
    const filter = { locationId, kind: "order" as const, since, until, reportId: null, tillId: null };
    const page = ({ index = 0, after = null }: { index?: number; after?: DocumentPosition | null }) =>
      findDocumentPage(stores, filter, {
        after,
        offset: index * size,
        limit: size,
        body: "v1",
        maxBytes: 1e9,
      });
    let after: DocumentPosition | null = null;
    for (let index = 0; index * size < expectedIds.length; index += 1) {
      const expected = expectedIds.slice(index * size, (index + 1) * size);
      const byIndex = await page({ index });
      expect(JSON.parse(`[${byIndex.items}]`)).toEqual(expected);
      expect(byIndex.total).toBe(expectedIds.length);
      if (after) expect(await page({ after })).toEqual(byIndex);
      after = byIndex.last;
    }
    expect(after).toBeNull();
    const pageCount = Math.ceil(expectedIds.length / size);
    const emptyPage = { total: expectedIds.length, items: [], last: null };
    expect(await page({ index: pageCount })).toEqual(emptyPage);
    expect(await page({ index: pageCount + 1_000 })).toEqual(emptyPage);
  });
});
