import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { type BulkExport, bulkExportFileExtensions } from "@pragma/contracts/bulk-export";
import { type BulkExportData, bulkExportDataNames } from "@pragma/contracts/bulk-export-columns";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { packTestTill } from "./harness/packed-till.ts";
import { parseCsv } from "./harness/parse-csv.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { readResidentMemoryMegabytes } from "./harness/resident-memory.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/** A year in `npm run test:soak`. */
const days = Number(process.env.EXPORT_DAYS ?? "12");
const ordersPerDay = 150;
/** More than the service uses before an export. The number of days makes no difference. */
const maxAdditionalMegabytes = 64;
const range = { since: "2025-01-01", until: "2025-12-31" };
/** All data in all formats in `npm run test:soak`. */
const measuredExports = bulkExportDataNames
  .flatMap((data) => Object.keys(bulkExportFileExtensions).map((format) => ({ data, format })))
  .filter(
    ({ data, format }) => days > 100 || ["orders jsonl", "items csv", "items parquet"].includes(`${data} ${format}`),
  );
/** The column whose sum is that of the sales of all reports. */
const salesColumns: Partial<Record<BulkExportData, string>> = {
  orders: "total",
  items: "totalRow",
  reports: "totalSales",
};

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let location: TestLocation;
let sql: postgres.Sql;
/** The sum of the sales of all reports, and the number of reports. */
let sales = { totalSales: 0, reports: 0 };

beforeAll(async () => {
  // With small files, even a short export has many, so that a process can be killed between two of them.
  const fileBytes: Record<string, string> = days > 100 ? {} : { BULK_EXPORT_FILE_BYTES: "65536" };
  environment = await createIsolatedTestEnvironment({ EXPORT_CLAIM_SECONDS: "2", ...fileBytes });
  product = await startPragmaUnderTest(environment.variables, {
    split: ["accounts", "till-ingest", "reporting"],
    variablesOf: (role) => (role === "reporting" ? { NODE_OPTIONS: "--max-old-space-size=256" } : {}),
  });
  location = await createTestLocation(product, { scopes: ["reports:read", "orders:read", "tills:write"] });
  sql = postgres(environment.variables.DATABASE_URL ?? "", {
    connection: { search_path: `${environment.namespace}_reporting` },
    max: 2,
  });
  for (let day = 1; day <= 4; day += 1) await pushTill(day);
  await copyTills();
  const [row] = await sql<{ sales: string; reports: number }[]>`
    select sum((finalized::json ->> 'totalSales')::bigint) as sales, count(*)::int as reports from reports
    where location_id = ${location.locationId}`;
  sales = { totalSales: Number(row?.sales), reports: Number(row?.reports) };
  expect(sales.reports).toBe(days);
}, 600_000);
afterAll(async () => {
  await sql?.end();
  await product?.stop();
  await environment?.remove();
});

/** Pushes a till of January 2025. Every other one is packed. */
async function pushTill(day: number): Promise<void> {
  const till = generateTill({
    seed: `export ${day}`,
    tillId: randomUUID(),
    orders: ordersPerDay,
    day: `2025-01-0${day}`,
  });
  expect((await location.request("POST", "/v2/tills/", { body: till })).status).toBe(201);
  const path = `/v2/reports/${computeTillReportId(till.id)}`;
  await eventually("the report", async () => (await location.request("GET", path)).status === 200, {
    timeoutSeconds: 60,
  });
}

/** Copies the rows of the pushed tills to further days, because computing a year of reports would take minutes. */
async function copyTills(): Promise<void> {
  const { locationId } = location;
  const originals = await sql<{ tillId: string }[]>`
    select till_id as "tillId" from reports where location_id = ${locationId} order by day`;
  for (let day = originals.length; day < days; day += 1) {
    const from = originals[day % originals.length]?.tillId ?? "";
    const [tillId, reportId] = [randomUUID(), randomUUID()];
    const copy = async (table: string, changes: Record<string, string>) => {
      const columns = await sql<{ name: string }[]>`
        select column_name as name from information_schema.columns
        where table_schema = ${`${environment.namespace}_reporting`} and table_name = ${table}`;
      const values = columns.map(({ name }) => changes[name] ?? `"${name}"`).join(", ");
      const names = columns.map(({ name }) => `"${name}"`).join(", ");
      await sql.unsafe(
        `insert into ${table} (${names}) select ${values} from ${table} where location_id = $1 and till_id = $2`,
        [locationId, from],
      );
    };
    const later = `day + ${day - (day % originals.length)}`;
    await copy("tills", { till_id: `'${tillId}'` });
    await copy("reports", { till_id: `'${tillId}'`, id: `'${reportId}'`, day: later });
    await copy("orders", { till_id: `'${tillId}'`, id: "gen_random_uuid()", report_id: `'${reportId}'`, day: later });
  }
  const tills = await sql<{ tillId: string }[]>`
    select till_id as "tillId" from reports where location_id = ${locationId} order by day, id`;
  for (const [index, { tillId }] of tills.entries()) if (index % 2 === 0) await packTestTill(environment, tillId);
}

/** Returns the maximum memory of the service, in megabytes, until `work` ends. */
async function measureWhile(work: Promise<unknown>): Promise<number> {
  let hasEnded = false;
  const ending = work.finally(() => {
    hasEnded = true;
  });
  let maximum = 0;
  while (!hasEnded) {
    maximum = Math.max(maximum, await readResidentMemoryMegabytes(product.process("reporting").pid ?? 0));
    await sleep(20);
  }
  await ending;
  return maximum;
}

/**
 * Starts the service again, and returns the memory that it uses after some requests, in megabytes. Otherwise, it would
 * contain garbage of the main thread, or the thread of an export before.
 */
async function measureRestAfterRestart(): Promise<number> {
  const process = product.process("reporting");
  await process.stop();
  await process.start();
  for (let index = 0; index < 20; index += 1) {
    const path = `/v1/orders/?size=100&index=${index % 15}`;
    await eventually("a list", async () => (await location.request("GET", path)).status === 200);
  }
  await sleep(2_000);
  return readResidentMemoryMegabytes(process.pid ?? 0);
}

const createExport = (body: object) => location.create<BulkExport>("/v1/exports/", { ...range, ...body });
const readExport = (id: string) => location.getJson<BulkExport>(`/v1/exports/${id}`);

const waitForEnd = (id: string) =>
  eventually(
    "the export to end",
    async () => {
      const found = await readExport(id);
      if (["queued", "running"].includes(found.state)) return false;
      expect(found).toMatchObject({ state: "done", failure: null });
      return found;
    },
    { timeoutSeconds: 600 },
  );

/** Downloads a file in two parts, as after an interruption, and checks its hash. */
async function download({ url, bytes, sha256 }: BulkExport["files"][number]): Promise<Buffer> {
  const path = new URL(url).pathname;
  const middle = Math.floor(bytes / 2);
  const first = await location.request("GET", path, { headers: { range: `bytes=0-${middle - 1}` } });
  expect([first.status, first.headers.get("content-range")]).toEqual([206, `bytes 0-${middle - 1}/${bytes}`]);
  const rest = await location.request("GET", path, {
    headers: { range: `bytes=${middle}-`, "if-range": first.headers.get("etag") ?? "" },
  });
  expect(rest.status).toBe(206);
  const file = Buffer.concat([Buffer.from(await first.arrayBuffer()), Buffer.from(await rest.arrayBuffer())]);
  expect(createHash("sha256").update(file).digest("hex")).toBe(sha256);
  return file;
}

it(`of ${days} days of ${ordersPerDay} orders needs little memory`, async () => {
  const rest: Record<string, number> = {};
  const additional: Record<string, number> = {};
  for (const { data, format } of measuredExports) {
    const restMegabytes = await measureRestAfterRestart();
    const { id } = await createExport({ data, format });
    rest[`${data} ${format}`] = restMegabytes;
    additional[`${data} ${format}`] = (await measureWhile(waitForEnd(id))) - restMegabytes;
    const { manifest } = await readExport(id);
    const column = salesColumns[data];
    expect(manifest).toMatchObject({
      reports: sales.reports,
      ...(column !== undefined && { sums: { [column]: sales.totalSales } }),
    });
    expect((await location.request("DELETE", `/v1/exports/${id}`)).status).toBe(204);
  }
  expect(Math.max(...Object.values(additional)), JSON.stringify({ rest, additional })).toBeLessThanOrEqual(
    maxAdditionalMegabytes,
  );
}, 1_200_000);

it("continues after its process was killed, without losing or repeating rows", async () => {
  const { id } = await createExport({ data: "payments", format: "csv" });
  const process = product.process("reporting");
  const files = async () => {
    const [row] = await sql<{ files: number }[]>`
      select count(*)::int as files from export_files where export_id = ${id}`;
    return row?.files ?? 0;
  };
  await eventually("the first file", async () => (await files()) > 0, { timeoutSeconds: 120 });
  const [{ state } = { state: "" }] = await sql<{ state: string }[]>`select state from exports where id = ${id}`;
  await process.kill();
  const before = await files();
  await process.start();
  const { files: written, manifest } = await waitForEnd(id);
  expect([state, before < written.length]).toEqual(["running", true]);
  const rows: string[] = [];
  for (const file of written) {
    const [, ...lines] = parseCsv(gunzipSync(await download(file)).toString());
    expect(lines).toHaveLength(file.rows);
    // The columns of the report and of the row, which no other row of the till has.
    for (const cells of lines) rows.push(`${cells[2]} ${cells[4]} ${cells[6]}`);
  }
  expect(new Set(rows).size).toBe(rows.length);
  expect(rows).toHaveLength(manifest?.rows ?? 0);
  const again = await waitForEnd((await createExport({ data: "payments", format: "csv" })).id);
  expect(again.manifest).toEqual({
    ...manifest,
    sha256: expect.any(String),
    bytes: expect.any(Number),
    files: expect.any(Number),
  });
}, 300_000);
