import { randomBytes } from "node:crypto";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { createLogger } from "@pragma/runtime/observability/logger";
import { afterAll, beforeAll, expect, it } from "vitest";
import { reportingServiceConfigSchema } from "../../config.ts";
import { readEverything } from "../../testing/read-everything.ts";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../../testing/start-test-reporting.ts";
import {
  buildTestOrder,
  buildTestOrderPaymentRow,
  buildTestOrderProductRow,
  buildTestTill,
} from "../../testing/till-fixtures.ts";
import { packTillsTask } from "../periodic/pack-tills.ts";
import { findDocumentBody } from "./document-body.ts";

const config = reportingServiceConfigSchema.parse({ OBJECT_STORE: "file:/unused" });
const log = createLogger({ name: "test", level: "silent" });
const principal = buildTestPrincipalWithScopes("reports:read", "orders:read");
const maxBytes = 256 * 1024;

/** An order whose V1 response is small, because it contains none of the payments that are not validated. */
const largeV2Order = buildTestOrder({
  openedAt: "2020-03-01T10:00:00.000Z",
  paymentRowList: Array.from({ length: 2_000 }, () => buildTestOrderPaymentRow({ status: "cancelled" })),
});
const largeOrder = buildTestOrder({
  openedAt: "2020-03-01T11:00:00.000Z",
  productRowList: Array.from({ length: 600 }, () =>
    buildTestOrderProductRow({ name: randomBytes(300).toString("base64") }),
  ),
});
const smallOrder = buildTestOrder({ openedAt: "2020-03-01T12:00:00.000Z" });
const till = buildTestTill([largeV2Order, largeOrder, smallOrder], { startedAt: "2020-03-01T08:00:00.000Z" });

let service: TestReportingService;

beforeAll(async () => {
  service = await startTestReportingService({ HOT_DAYS: "36500" });
  await service.pushTills([till], principal.location.id);
});
afterAll(() => service?.remove());

/** Returns the responses that are not read because they are larger than 256 KB, as paths. */
async function listOmittedBodies(locationId: string | null): Promise<string[]> {
  const omitted: string[] = [];
  const resources = [
    ...till.orderList.flatMap(({ id }) => ["v1", "v2"].map((body) => ({ kind: "order" as const, id, body }))),
    ...["v0", "v2"].map((body) => ({ kind: "report" as const, id: computeTillReportId(till.id), body })),
  ];
  for (const { kind, id, body } of resources) {
    const stores = { sql: service.db.sql, objects: service.objects };
    const requested = { kind, id, locationId, body };
    const found = await findDocumentBody(stores, { ...requested, maxBytes });
    const complete = await findDocumentBody(stores, { ...requested, maxBytes: 2 ** 31 - 1 });
    const size = complete?.body?.byteLength ?? 0;
    expect(size).toBeGreaterThan(0);
    expect(found?.etag).toBe(complete?.etag);
    expect(found?.body === null).toBe(size > maxBytes);
    expect(found?.body ?? null).toEqual(size > maxBytes ? null : complete?.body);
    if (found?.body !== null) continue;
    expect(found?.omittedBytes).toBeGreaterThan(maxBytes);
    expect(found?.omittedBytes).toBeLessThanOrEqual(size);
    omitted.push(`${body} ${id}`);
  }
  return omitted;
}

it("a large body is read only without a maximum size, stored or packed, and its response stays the same", async () => {
  const large = [`v2 ${largeV2Order.id}`, `v1 ${largeOrder.id}`, `v2 ${largeOrder.id}`];
  const before = await readEverything(service, principal, [till]);
  for (const locationId of [principal.location.id, null])
    expect(await listOmittedBodies(locationId)).toEqual(expect.arrayContaining(large));
  expect(await listOmittedBodies(principal.location.id)).not.toContain(`v1 ${largeV2Order.id}`);

  await service.db.sql`update reports set updated_at = now() - interval '2 days'`;
  await packTillsTask.run({ db: service.db, objects: service.objects, config, log });
  expect(await service.db.sql`select from packed_tills where till_id = ${till.id}`).toHaveLength(1);
  for (const locationId of [principal.location.id, null])
    expect(await listOmittedBodies(locationId)).toEqual(expect.arrayContaining(large));
  expect(await readEverything(service, principal, [till])).toEqual(before);
});

it("a client that has a large response receives 304", async () => {
  const path = `/v2/orders/${largeOrder.id}`;
  const etag = (await service.request("GET", path, { principal })).headers.get("etag") ?? "";
  const unchanged = await service.request("GET", path, { principal, headers: { "if-none-match": etag } });
  expect([unchanged.status, await unchanged.text()]).toEqual([304, ""]);
});
