import { createHash, randomUUID } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { BulkExport } from "@pragma/contracts/bulk-export";
import { bulkExportDataNames, bulkExportSums } from "@pragma/contracts/bulk-export-columns";
import { OrderV2 } from "@pragma/contracts/order-data";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { operatorCommandAuditSource } from "@pragma/runtime/messaging/audit-events";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { startTestService } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packTill } from "../../documents/packing/pack-till.ts";
import { deleteUnusedObjectsTask } from "../../documents/periodic/delete-unused-objects.ts";
import { publishErasureEvents } from "../../retention/request-erasure.ts";
import reporting from "../../service.ts";
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
import { claimExports, renewExportClaim } from "../export-claims.ts";
import { deleteExpiredExports, toJson } from "../queries/export-queries.ts";
import { bulkExports } from "./bulk-exports.ts";
import { removeErasedTillFromBulkExports } from "./queries/bulk-export-queries.ts";

type TestPrincipal = ReturnType<typeof buildTestPrincipalWithScopes>;

let service: TestReportingService;
const log = createLogger({ name: "test", level: "silent" });
beforeAll(async () => {
  // A file ends after the rows of one till, and the service packs nothing itself.
  service = await startTestReportingService({
    ...{ HOT_DAYS: "36500", BULK_EXPORT_FILE_BYTES: "1", BULK_EXPORT_MAX_ROWS: "12", EXPORT_CLAIM_SECONDS: "5" },
    ...{ BULK_EXPORT_MAX_BYTES_PER_LOCATION: "20000", BULK_EXPORT_MAX_UNFINISHED_PER_LOCATION: "2" },
  });
});
afterAll(() => service?.remove());

function newPrincipal(...scopes: Parameters<typeof buildTestPrincipalWithScopes>): TestPrincipal {
  const principal = buildTestPrincipalWithScopes(
    ...(scopes.length > 0 ? scopes : (["reports:read", "orders:read"] as const)),
  );
  service.accounts.addLocation({ id: principal.location.id, ...{ currencyCode: "CHF" } });
  return principal;
}

/** Pushes one till for each day of May 2026, each with two orders of one product of 11.00 and one payment. */
async function pushTills(principal: TestPrincipal, days: number[]) {
  const tills = days.map((day) => {
    const date = `2026-05-${String(day).padStart(2, "0")}`;
    const orders = [1, 2].map((hour) =>
      buildTestOrder({
        ...{
          id: randomUUID(),
          openedAt: `${date}T1${hour}:00:00.000Z`,
          total: 1100,
          totalTax: 100,
          totalWithoutTax: 1000,
        },
        ...{ firebaseCustomerName: "Jane Doe", productRowList: [buildTestOrderProductRow()] },
        paymentRowList: [buildTestOrderPaymentRow({ recordedAt: `${date}T13:00:00.000Z` })],
      }),
    );
    return buildTestTill(orders, {
      ...{ id: randomUUID(), startedAt: `${date}T08:00:00.000Z`, finalizedAt: `${date}T22:00:00.000Z` },
    });
  });
  await service.pushTills(tills, principal.location.id);
  return tills;
}

const range = { since: "2026-05-01", until: "2026-05-31" };

/** Returns columns of an export that a test inserts itself. */
const newRow = () => ({
  ...{ kind: "bulk", keyId: randomUUID(), consumer: "x" },
  request: toJson(service.db.sql, { data: "items", format: "csv", ...range }),
});

async function createExport(principal: Principal, body: object): Promise<BulkExport> {
  const request = { method: "POST", path: "/v1/exports/", principal, body: { format: "jsonl", ...range, ...body } };
  return service.sendJson(request, { status: 202, schema: BulkExport });
}

const readExport = (principal: Principal, id: string) => service.getJson(`/v1/exports/${id}`, BulkExport, principal);

const waitForEnd = (principal: Principal, id: string) =>
  eventually("the export to end", async () => {
    const found = await readExport(principal, id);
    return !["queued", "running"].includes(found.state) && found;
  });

async function exportAll(principal: Principal, body: object): Promise<BulkExport> {
  return waitForEnd(principal, (await createExport(principal, body)).id);
}

const filePath = (url: string) => new URL(url).pathname;

async function download(principal: Principal, { url, bytes, sha256 }: BulkExport["files"][number]): Promise<Buffer> {
  const response = await service.request("GET", filePath(url), { principal });
  expect(response.status).toBe(200);
  const file = Buffer.from(await response.arrayBuffer());
  expect({ bytes: file.byteLength, sha256: createHash("sha256").update(file).digest("hex") }).toEqual({
    bytes,
    sha256,
  });
  expect(response.headers.get("content-length")).toBe(String(bytes));
  return file;
}

/** Returns the lines of all files of an export. */
async function readLines(principal: Principal, { files }: BulkExport): Promise<string[]> {
  const texts = await Promise.all(files.map(async (file) => gunzipSync(await download(principal, file)).toString()));
  return texts.flatMap((text) => text.trimEnd().split(/\r?\n/));
}

const listObjectKeys = async (id: string) =>
  (await service.db.sql<{ objectKey: string }[]>`select object_key from export_files where export_id = ${id}`).map(
    ({ objectKey }) => objectKey,
  );

describe("an export", () => {
  it("contains the same rows of packed tills and of others, in files with counts, sums and hashes", async () => {
    const principal = newPrincipal();
    const tills = await pushTills(principal, [3, 1, 2]);
    const before = await exportAll(principal, { data: "orders" });
    const lines = await readLines(principal, before);
    const orders = lines.map((line) => OrderV2.parse(JSON.parse(line)));
    expect(orders.map(({ openedAt }) => openedAt.slice(5, 13))).toEqual([
      "05-01T11",
      "05-01T12",
      "05-02T11",
      "05-02T12",
      "05-03T11",
      "05-03T12",
    ]);
    for (const order of orders)
      expect(await service.getJson(`/v2/orders/${order.id}`, OrderV2, principal)).toEqual(order);
    for (const { id: tillId } of tills.slice(0, 2)) {
      const key = { locationId: principal.location.id, tillId };
      expect(await packTill({ db: service.db, objects: service.objects }, key)).toBe(true);
    }
    const after = await exportAll(principal, { data: "orders" });
    expect(await readLines(principal, after)).toEqual(lines);
    const sums = { total: 6_600, totalTax: 600, totalWithoutTax: 6_000, totalDiscount: 0 };
    expect(after).toMatchObject({
      ...{ state: "done", failure: null, progress: { daysDone: 31, daysTotal: 31, rows: 6 } },
      manifest: { rows: 6, reports: 3, files: 3, sums, currencyCode: "CHF" },
      files: [1, 2, 3].map((day) => ({
        ...{ rows: 2, firstDay: `2026-05-0${day}`, lastDay: `2026-05-0${day}` },
        ...{
          name: `orders-2026-05-01-2026-05-31-000${day}.jsonl.gz`,
          sums: { ...sums, total: 2_200, totalTax: 200, totalWithoutTax: 2_000 },
        },
      })),
    });
    const hash = createHash("sha256")
      .update(after.files.map(({ sha256 }) => `${sha256}\n`).join(""))
      .digest("hex");
    expect(after.manifest?.sha256).toBe(hash);
    const manifestRequest = { principal, headers: { range: "bytes=0-9" } };
    const manifest = await service.request("GET", `/v1/exports/${after.id}/files/manifest.json`, manifestRequest);
    expect(manifest.status).toBe(200);
    expect(manifest.headers.get("accept-ranges")).toBe("none");
    expect(manifest.headers.get("content-type")).toBe("application/json");
    expect(await manifest.json()).toEqual(after);
    // Reports of packed tills, too.
    const reports = await exportAll(principal, { data: "reports", since: "2026-05-02", until: "2026-05-02" });
    expect(reports.manifest).toMatchObject({
      rows: 1,
      sums: { totalSales: 2_200, totalExcludingTax: 2_000, totalTax: 200 },
    });
  });

  it("of CSV has the documented columns and the currency of the location", async () => {
    const principal = newPrincipal();
    const [till] = await pushTills(principal, [1]);
    const [header, ...rows] = await readLines(principal, await exportAll(principal, { data: "taxes", format: "csv" }));
    expect(header).toBe(
      "locationId,businessDay,reportId,tillId,reportNumber,startedAt,taxName,taxRate,taxCatalogId,currencyCode,taxableAmount,taxAmount",
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.split(",").toSpliced(2, 1)).toEqual([
      ...[principal.location.id, "2026-05-01", till?.id, String(till?.reportNumber), "2026-05-01T08:00:00.000Z"],
      ...["TVA 10%", "1000", "ten", "CHF", "2000", "200"],
    ]);
  });

  it.each(bulkExportDataNames)("of %s without any report is done without files, with sums of 0", async (data) => {
    const exported = await exportAll(newPrincipal(), { data, format: "parquet" });
    const sums = Object.fromEntries(bulkExportSums[data].columns.map((column) => [column, 0]));
    expect(exported).toMatchObject({ state: "done", files: [] });
    expect(exported.manifest).toMatchObject({ rows: 0, files: 0 });
    expect(exported.manifest?.sums).toEqual(sums);
  });

  it("contains documents that need a thread with more memory", async () => {
    const principal = newPrincipal();
    await pushTills(principal, [1, 2]);
    await service.db.sql`
      update reports set v2 = left(v2, -1) || ',"note":"' || repeat('x', 5000000) || '"}'
      where location_id = ${principal.location.id} and day = '2026-05-01'`;
    const exported = await exportAll(principal, { data: "reports" });
    expect(exported).toMatchObject({ state: "done", manifest: { rows: 2, reports: 2 } });
    const lines = await readLines(principal, exported);
    expect(lines.map((line) => line.length > 5_000_000)).toEqual([true, false]);
  });

  it("continues after its last complete file, without losing or repeating rows", async () => {
    const principal = newPrincipal();
    await pushTills(principal, [1, 2, 3, 4]);
    const complete = await exportAll(principal, { data: "items" });
    const lines = await readLines(principal, complete);
    // As if the process had ended between the second and the third file: the claim expires.
    await service.db.sql`delete from export_files where export_id = ${complete.id} and number > 2`;
    const [report] = await service.db.sql<{ day: string; at: string; id: string }[]>`
      select day::text as day, started_at::text as at, id from reports
      where location_id = ${principal.location.id} and day = '2026-05-02'`;
    const position = { day: report?.day, at: report?.at, reportId: report?.id };
    const progress = JSON.stringify({ days: 2, rows: 4, reports: 2, position, currencyCode: "CHF" });
    await service.db.sql`
      update exports set state = 'running', claimed_until = now() - interval '1 second', finished_at = null,
        expires_at = null, progress = ${progress}::text::json
      where id = ${complete.id}`;
    const resumed = await waitForEnd(principal, complete.id);
    expect(await readLines(principal, resumed)).toEqual(lines);
    expect(resumed.files.slice(0, 2)).toEqual(complete.files.slice(0, 2));
    expect(resumed.manifest).toMatchObject({ rows: 8, reports: 4, files: 4, sums: complete.manifest?.sums });
  });

  it("is run by one process at a time", async () => {
    const principal = newPrincipal();
    const key = { locationId: principal.location.id, id: randomUUID() };
    const row = { ...key, ...newRow(), state: "running", claimedUntil: "infinity", claimNumber: 3 };
    await service.db.sql`
      insert into exports ${service.db.sql(row as never)}`;
    const lost = { ...key, claimNumber: 2, failedAttempts: 0, traceparent: null };
    const progress = { seconds: 60, progress: {} };
    expect(await renewExportClaim(service.db.sql, lost, progress)).toBe(false);
    expect(await renewExportClaim(service.db.sql, { ...lost, claimNumber: 3 }, progress)).toBe(true);
    expect(await claimExports(service.db.sql, bulkExports, { limit: 100, seconds: 1 })).not.toContainEqual(
      expect.objectContaining({ id: key.id }),
    );
    await service.db.sql`delete from exports where id = ${key.id}`;
  });

  it("lets the export of another location run before it continues", async () => {
    const [large, small] = [newPrincipal(), newPrincipal()];
    await pushTills(large, [1, 2, 3]);
    await pushTills(small, [1]);
    const { sql } = service.db;
    const rows = [large, small].map((principal, index) => ({
      ...{ locationId: principal.location.id, id: randomUUID(), ...newRow() },
      createdAt: new Date(Date.UTC(2026, 0, 1, index)),
    }));
    await sql`insert into exports ${sql(rows as never)}`;
    const [first, second] = [await waitForEnd(large, rows[0]?.id ?? ""), await waitForEnd(small, rows[1]?.id ?? "")];
    expect(first).toMatchObject({ state: "done", manifest: { rows: 6, reports: 3, files: 3 } });
    expect(second).toMatchObject({ state: "done", manifest: { rows: 2, reports: 1, files: 1 } });
    expect(Date.parse(first.startedAt ?? "")).toBeLessThanOrEqual(Date.parse(second.startedAt ?? ""));
    expect(Date.parse(second.finishedAt ?? "")).toBeLessThan(Date.parse(first.finishedAt ?? ""));
  });

  it("is finished by another process when its process stops", async () => {
    const principal = newPrincipal();
    await pushTills(principal, [1, 2]);
    const other = await startTestService(reporting, service.environment, service.registry);
    try {
      const ids = [
        (await createExport(principal, { data: "items" })).id,
        (await createExport(principal, { data: "payments" })).id,
      ];
      await other.running.stop();
      for (const id of ids)
        expect(await waitForEnd(principal, id)).toMatchObject({ state: "done", manifest: { rows: 4 } });
    } finally {
      await other.stop();
    }
  });
});

describe("a file", () => {
  it("is sent in ranges, with entity tags", async () => {
    const principal = newPrincipal();
    await pushTills(principal, [1]);
    const [file] = (await exportAll(principal, { data: "orders" })).files;
    if (!file) return expect.unreachable();
    const whole = await download(principal, file);
    const get = (headers: Record<string, string>) => service.request("GET", filePath(file.url), { principal, headers });
    const etag = `"${file.sha256}"`;
    for (const [range, start, end] of [
      ["bytes=0-9", 0, 10],
      ["bytes=10-", 10, file.bytes],
      ["bytes=-7", file.bytes - 7, file.bytes],
      [`bytes=5-${file.bytes + 100}`, 5, file.bytes],
    ] as const) {
      const response = await get({ range, "if-range": etag });
      expect(response.status).toBe(206);
      expect(response.headers.get("content-range")).toBe(`bytes ${start}-${end - 1}/${file.bytes}`);
      expect(Buffer.from(await response.arrayBuffer())).toEqual(whole.subarray(start, end));
    }
    const unchanged = await get({ "if-none-match": etag, range: "bytes=0-9" });
    expect([unchanged.status, unchanged.headers.get("etag")]).toEqual([304, etag]);
    for (const headers of [
      { range: "bytes=0-9", "if-range": '"other"' },
      { range: "bytes=0-1,4-5" },
      { range: "bytes=9-2" },
    ]) {
      const response = await get(headers);
      expect([response.status, response.headers.get("accept-ranges")]).toEqual([200, "bytes"]);
      await response.body?.cancel();
    }
    const outside = await get({ range: `bytes=${file.bytes}-` });
    expect([outside.status, outside.headers.get("content-range")]).toEqual([416, `bytes */${file.bytes}`]);
    expect(await outside.json()).toMatchObject({ code: "range_not_satisfiable" });
  });

  it("that the object store no longer has yields 404", async () => {
    const principal = newPrincipal();
    await pushTills(principal, [1]);
    const { id, files } = await exportAll(principal, { data: "orders" });
    for (const key of await listObjectKeys(id)) await service.objects.delete(key);
    const path = filePath(files[0]?.url ?? "");
    expect(await service.requestProblem({ method: "GET", path, principal })).toMatchObject({
      code: "export_file_not_found",
    });
  });

  it("is deleted with its export, from the object store too", async () => {
    const principal = newPrincipal();
    await pushTills(principal, [1]);
    const { id, files } = await exportAll(principal, { data: "orders" });
    const [objectKey = ""] = await listObjectKeys(id);
    expect(await service.objects.has(objectKey)).toBe(true);
    expect((await service.request("DELETE", `/v1/exports/${id}`, { principal })).status).toBe(204);
    for (const path of [`/v1/exports/${id}`, filePath(files[0]?.url ?? "")])
      expect(await service.requestProblem({ method: "GET", path, principal })).toMatchObject({
        code: "export_not_found",
      });
    await deleteUnusedObjectsTask.run({ db: service.db, objects: service.objects, log });
    expect(await service.objects.has(objectKey)).toBe(false);
  });

  it("is deleted 7 days after the end of its export", async () => {
    const principal = newPrincipal();
    await pushTills(principal, [1]);
    const { id, finishedAt, expiresAt } = await exportAll(principal, { data: "orders" });
    expect(Date.parse(expiresAt ?? "") - Date.parse(finishedAt ?? "")).toBe(7 * 24 * 3_600_000);
    const [objectKey = ""] = await listObjectKeys(id);
    await service.db.sql`update exports set expires_at = now() - interval '1 second' where id = ${id}`;
    await deleteExpiredExports(service.db);
    expect(await service.db.sql`select from exports where id = ${id}`).toHaveLength(0);
    await deleteUnusedObjectsTask.run({ db: service.db, objects: service.objects, log });
    expect(await service.objects.has(objectKey)).toBe(false);
  });
});

describe("an erasure of personal data", () => {
  it("removes the files that contain the till, and keeps other exports", async () => {
    const principal = newPrincipal();
    const [till] = await pushTills(principal, [1, 2]);
    const affected = await exportAll(principal, { data: "orders" });
    const other = await exportAll(principal, { data: "orders", since: "2026-05-02" });
    expect((await readLines(principal, affected)).join()).toContain("Jane Doe");
    const [objectKey = ""] = await listObjectKeys(affected.id);
    const orderIds = [till?.orderList[0]?.id ?? ""];
    await publishErasureEvents(service.db, { locationId: principal.location.id, orderIds }, operatorCommandAuditSource);
    expect(await readExport(principal, affected.id)).toMatchObject({
      ...{ state: "removed", failure: { code: "personal_data_erased" }, files: [], manifest: null },
    });
    const path = filePath(affected.files[0]?.url ?? "");
    expect(await service.requestProblem({ method: "GET", path, principal })).toMatchObject({
      code: "export_file_not_found",
    });
    await deleteUnusedObjectsTask.run({ db: service.db, objects: service.objects, log });
    expect(await service.objects.has(objectKey)).toBe(false);
    expect(await readExport(principal, other.id)).toEqual(other);
  });

  it("restarts an export that is running", async () => {
    const principal = newPrincipal();
    const [till] = await pushTills(principal, [1, 2]);
    const done = await exportAll(principal, { data: "orders" });
    await service.db.sql`
      update exports set state = 'running', claim_number = 7, claimed_until = now() + interval '1 hour', expires_at = null,
        finished_at = null
      where id = ${done.id}`;
    const key = { locationId: principal.location.id, tillId: till?.id ?? "" };
    await service.db.transaction((tx) => removeErasedTillFromBulkExports(tx, service.db, key));
    // The process that had the claim can store nothing more, and the export runs again from its beginning.
    const lost = { ...key, id: done.id, claimNumber: 7, failedAttempts: 0, traceparent: null };
    expect(await renewExportClaim(service.db.sql, lost, { seconds: 60, progress: {} })).toBe(false);
    expect(await waitForEnd(principal, done.id)).toMatchObject({
      state: "done",
      manifest: { rows: 4, files: 2, reports: 2 },
    });
  });
});

describe("an erasure that reporting skips, because a later revision of the till waits, too", () => {
  it.each([
    ["has the same day", {}],
    ["has another day", { startedAt: "2026-05-20T08:00:00.000Z" }],
    ["is in training mode", { isTraining: true }],
  ])("removes the files and restarts running exports when the later revision %s", async (_, change) => {
    const principal = newPrincipal();
    const [till = expect.unreachable()] = await pushTills(principal, [1]);
    const done = await exportAll(principal, { data: "orders" });
    const { id: runningId } = await exportAll(principal, { data: "orders", until: "2026-05-01" });
    await service.db.sql`delete from export_files where export_id = ${runningId}`;
    await service.db.sql`
      update exports set state = 'running', claim_number = 7, claimed_until = now() + interval '1 hour'
      where id = ${runningId}`;
    const locationId = principal.location.id;
    await service.pushTills([{ ...till, note: "later", ...change }], locationId, { revision: 3, erasedRevision: 2 });
    expect(await readExport(principal, done.id)).toMatchObject({
      ...{ state: "removed", failure: { code: "personal_data_erased" }, files: [] },
    });
    const lost = { locationId, id: runningId, claimNumber: 7, failedAttempts: 0, traceparent: null };
    expect(await renewExportClaim(service.db.sql, lost, { seconds: 60, progress: {} })).toBe(false);

    // The next revision has the same field, and its erasure is applied.
    const next = await exportAll(principal, { data: "reports" });
    await service.pushTills([{ ...till, note: "last" }], locationId, { revision: 4, erasedRevision: 2 });
    expect(await readExport(principal, next.id)).toMatchObject({ state: "done" });
  });
});

describe("the limits of exports", () => {
  it("reject a range of more than 1,100 days, and one that ends before it begins", async () => {
    const principal = newPrincipal();
    for (const [body, path] of [
      [{ since: "2020-01-01", until: "2026-05-31" }, "until"],
      [{ since: "2026-06-01", until: "2026-05-31" }, "since"],
    ] as const) {
      const request = {
        method: "POST",
        path: "/v1/exports/",
        principal,
        body: { data: "items", format: "csv", ...body },
      };
      expect(await service.requestProblem(request)).toMatchObject({
        code: "invalid_request",
        errors: [{ path, code: "too_big" }],
      });
    }
  });

  it("fail an export with too many rows", async () => {
    const principal = newPrincipal();
    await pushTills(principal, [1, 2, 3, 4, 5, 6, 7]);
    const failed = await exportAll(principal, { data: "orders" });
    expect(failed).toMatchObject({ state: "failed", failure: { code: "too_many_rows" }, files: [], manifest: null });
    expect(await listObjectKeys(failed.id)).toEqual([]);
  });

  it("fail an export whose files would exceed the bytes of the location, and reject new ones until others are deleted", async () => {
    const principal = newPrincipal();
    await pushTills(principal, [1]);
    const first = await exportAll(principal, { data: "orders" });
    await service.db.sql`update export_files set bytes = 19999 where export_id = ${first.id}`;
    expect(await exportAll(principal, { data: "orders" })).toMatchObject({
      state: "failed",
      failure: { code: "storage_limit" },
    });
    await service.db.sql`update export_files set bytes = 20000 where export_id = ${first.id}`;
    const request = {
      method: "POST",
      path: "/v1/exports/",
      principal,
      body: { data: "orders", format: "csv", ...range },
    };
    expect(await service.requestProblem(request)).toMatchObject({
      code: "limit_reached",
      limit: { name: "bulk_export_bytes" },
    });
    await service.request("DELETE", `/v1/exports/${first.id}`, { principal });
    expect(await exportAll(principal, { data: "orders" })).toMatchObject({ state: "done" });
  });

  it("reject further exports of a location with too many unfinished ones, but not of others", async () => {
    const principal = newPrincipal();
    const { sql } = service.db;
    const rows = [1, 2].map(() => ({
      ...{ locationId: principal.location.id, id: randomUUID(), ...newRow() },
      ...{ state: "running", claimedUntil: "infinity" },
    }));
    await sql`insert into exports ${sql(rows as never)}`;
    const request = {
      method: "POST",
      path: "/v1/exports/",
      principal,
      body: { data: "items", format: "csv", ...range },
    };
    expect(await service.requestProblem(request)).toMatchObject({
      ...{ code: "limit_reached", limit: { name: "unfinished_bulk_exports", maximum: 2 } },
    });
    expect(await exportAll(newPrincipal(), { data: "items" })).toMatchObject({ state: "done" });
    await sql`delete from exports where location_id = ${principal.location.id}`;
  });
});

describe("an API key", () => {
  it("needs orders:read for rows of orders, and sees only exports of its location", async () => {
    const principal = newPrincipal("reports:read");
    const body = { format: "csv", ...range };
    const post = (data: string) => service.request("POST", "/v1/exports/", { principal, body: { data, ...body } });
    expect((await post("items")).status).toBe(403);
    expect((await post("taxes")).status).toBe(202);
    const reader = { ...principal, scopes: ["reports:read", "orders:read"] };
    const { id } = await exportAll(reader, { data: "orders" });
    for (const [method, path] of [
      ["GET", `/v1/exports/${id}/files/manifest.json`],
      ["DELETE", `/v1/exports/${id}`],
    ] as const)
      expect(await service.requestProblem({ method, path, principal })).toMatchObject({ code: "scope_missing" });
    const stranger = newPrincipal();
    for (const [method, path] of [
      ["GET", `/v1/exports/${id}`],
      ["GET", `/v1/exports/${id}/files/manifest.json`],
      ["DELETE", `/v1/exports/${id}`],
    ] as const)
      expect(await service.requestProblem({ method, path, principal: stranger })).toMatchObject({
        code: "export_not_found",
      });
    const operator = { ...stranger, location: null, scopes: ["admin"] };
    const list = paginatedSchema(BulkExport.omit({ files: true }));
    expect((await service.getJson("/v1/exports/", list, reader)).data.map(({ data }) => data)).toEqual([
      "orders",
      "taxes",
    ]);
    expect((await service.getJson("/v1/exports/", list, stranger)).data).toEqual([]);
    const path = `/v1/exports/?locationId=${principal.location.id}`;
    expect((await service.getJson(path, list, operator)).data[0]).toMatchObject({ id, state: "done" });
    expect((await service.request("DELETE", `/v1/exports/${id}`, { principal: operator })).status).toBe(204);
  });
});
