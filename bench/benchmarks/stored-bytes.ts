import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { TillV2 } from "@pragma/contracts/till-v2";
import { computeDocuments } from "@pragma/reporting/calculation/compute-report";
import { packTill } from "@pragma/reporting/documents/packing/pack-till";
import type { TillKey } from "@pragma/reporting/documents/queries/tills";
import { mergeMetricMonths } from "@pragma/reporting/metrics/periodic/merge-metric-months";
import { replaceTillMetrics } from "@pragma/reporting/metrics/queries/metrics";
import { computeTillMetrics } from "@pragma/reporting/metrics/till-metrics";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import postgres from "postgres";
import type { BenchEnvironment } from "../bench-environment.ts";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import { type BenchPragmaDeployment, singleProcessBenchRoles } from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import { computeBenchmarkComparison, type ProductToBaselineComparison } from "../benchmark-figure.ts";
import { createBenchTillRequestGenerator } from "../load/bench-till-request-generator.ts";
import { openPackedOrderHistoryStores } from "../packed-order-history.ts";
import { readProcessTreeCpuSeconds } from "../process-usage.ts";
import { benchBusyShiftTillJson } from "../sample-tills.ts";
import { storageFigureLabels } from "../sizing-tables.ts";

const ordersPerTill = 150;
const namespace = "bench_stored_bytes";

/** Bytes by the part of the product that stores them: a service's schema in PostgreSQL, or objects of one kind. */
type StoredBytes = Record<ServiceName | "bodies of tills" | "packed tills", number>;

/** The cost of work for one till. */
interface TillCost {
  wallMs: number;
  /** CPU time of the process that does the work, without PostgreSQL. */
  cpuMs: number;
  postgresCpuMs: number;
  walBytes: number;
}

export const storedBytesBenchmark: BenchmarkDefinition = {
  id: "bytes",
  title: `Stored bytes per order, for tills of ${ordersPerTill} orders`,
  baseline: "the JSON of the pushed tills, without compression",
  async run(environment, reportProgress) {
    const tills = environment.isQuick ? 20 : 200;
    const product = await environment.startProduct(namespace, singleProcessBenchRoles);
    try {
      const location = await createBenchLocation(product);
      // The first till makes each table and index allocate pages, which are then shared by many tills.
      await pushTills(product, { location, tills: 1, reportProgress });
      const before = await measureStoredBytes(environment);
      const metricBytesBefore = await measureMetricBytes(environment);
      let pushedBytes = 0;
      const pushCost = await measureTillCost(environment, product.cpuSeconds, async () => {
        pushedBytes = await pushTills(product, { location, tills, reportProgress });
        return tills;
      });
      await moveTillsToOldDays(environment);
      const after = await measureStoredBytes(environment);
      const orders = tills * ordersPerTill;
      const unpackedReads = await measureReads(product, location);
      const metricsCost = await measureMetrics(environment, reportProgress);
      const packCost = await measurePacking(environment, reportProgress);
      await packAllTills(environment, reportProgress);
      await mergeMonths(environment);
      await deleteShortLivedRows(environment);
      const packed = await measureStoredBytes(environment);
      const metricBytes = ((await measureMetricBytes(environment)) - metricBytesBefore) / orders;
      const packedReads = await measureReads(product, location);
      const baseline = pushedBytes / orders;
      const compareBytes = (stored: StoredBytes, label: string, max: number) => {
        const ours = Object.values(listPartBytes(stored, before, orders)).reduce((sum, bytes) => sum + bytes, 0);
        const goal = { max: Number((max / baseline).toPrecision(3)) };
        return computeBenchmarkComparison([{ ours, baseline }], { label, unit: "bytes", goal });
      };
      const compareMetrics = (): ProductToBaselineComparison[] => {
        const sumBytes = (stored: StoredBytes) =>
          Object.values(listPartBytes(stored, before, orders)).reduce((sum, bytes) => sum + bytes, 0);
        const cpuOf = ({ cpuMs, postgresCpuMs }: TillCost) => cpuMs + postgresCpuMs;
        return [
          computeBenchmarkComparison([{ ours: metricBytes, baseline: sumBytes(after) - metricBytes }], {
            ...{ label: "of a stored order: figures by dimension against everything else", unit: "bytes" },
            goal: { max: 0.1 },
          }),
          computeBenchmarkComparison([{ ours: metricBytes, baseline: sumBytes(packed) - metricBytes }], {
            ...{ label: "of a packed order: figures by dimension against everything else", unit: "bytes" },
            goal: { max: 0.1 },
          }),
          computeBenchmarkComparison([{ ours: cpuOf(metricsCost), baseline: cpuOf(pushCost) }], {
            ...{ label: "figures by dimension of a till against its push: CPU, with PostgreSQL", unit: "ms" },
            goal: { max: 0.1 },
          }),
        ];
      };
      const compareReads = (name: "page" | "order", label: string, max: number) =>
        computeBenchmarkComparison(
          packedReads[name].map((ours, index) => ({ ours, baseline: unpackedReads[name][index] ?? Number.NaN })),
          { label, unit: "ms", goal: { max } },
        );
      const compareParts = (stored: StoredBytes, kind: "stored" | "packed") => {
        const bytes = listPartBytes(stored, before, orders);
        const parts = { bodies: bytes["bodies of tills"], packedObjects: bytes["packed tills"] };
        const postgres = serviceNames.reduce((sum, service) => sum + bytes[service], 0);
        return Object.entries({ ...parts, postgres }).map(([part, ours]) =>
          computeBenchmarkComparison([{ ours, baseline }], {
            label: storageFigureLabels[kind][part as keyof (typeof storageFigureLabels)["stored"]],
            unit: "bytes",
          }),
        );
      };
      const compareCosts = (): ProductToBaselineComparison[] =>
        (["wallMs", "cpuMs", "postgresCpuMs", "walBytes"] as const).map((part) =>
          computeBenchmarkComparison([{ ours: packCost[part], baseline: pushCost[part] }], {
            label: storageFigureLabels.packing[part],
            unit: part === "walBytes" ? "bytes" : "ms",
          }),
        );
      return {
        figures: [
          compareBytes(after, `${tills} tills in one location, everything included (goal: 4,500 bytes)`, 4_500),
          compareBytes(
            packed,
            "the same tills, packed (goal: 1,300 bytes, of which 100 are figures by dimension)",
            1_300,
          ),
          compareReads("page", "a page of 100 packed orders against the page before packing", 2),
          compareReads("order", "a packed order by its id against the order before packing", 4),
          ...compareParts(after, "stored"),
          ...compareParts(packed, "packed"),
          ...compareCosts(),
          ...compareMetrics(),
        ],
        notes: [
          `Bytes per order by part: ${describePartBytes(after, before, orders)}`,
          `Bytes per order by part, packed: ${describePartBytes(packed, before, orders)}`,
          "Packed tills are measured without the rows that periodic tasks delete before tills are packed.",
        ],
      };
    } finally {
      await product.stop();
    }
  },
};

/** Runs work for several tills, whose number it returns. @returns the mean cost of one of them. */
async function measureTillCost(
  { postgres: { pid }, urls }: BenchEnvironment,
  cpuSeconds: () => number,
  work: () => Promise<number>,
): Promise<TillCost> {
  const sql = postgres(urls.DATABASE_URL, { max: 1, onnotice: () => {} });
  const readCounters = async () => {
    const [row] = await sql<[{ bytes: string }]>`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`;
    return {
      wallMs: performance.now(),
      cpuMs: cpuSeconds() * 1_000,
      postgresCpuMs: readProcessTreeCpuSeconds(pid) * 1_000,
      walBytes: Number(row.bytes),
    };
  };
  try {
    const before = await readCounters();
    const tills = await work();
    const after = await readCounters();
    const parts = Object.keys(before) as (keyof TillCost)[];
    return Object.fromEntries(parts.map((part) => [part, (after[part] - before[part]) / tills])) as unknown as TillCost;
  } finally {
    await sql.end();
  }
}

/** Packs some tills one at a time in this process, as reporting does, which packs the others afterwards. */
async function measurePacking(
  environment: BenchEnvironment,
  reportProgress: (detail: string) => void,
): Promise<TillCost> {
  const stores = openPackedOrderHistoryStores(environment, namespace);
  try {
    const tills = await stores.db.sql<TillKey[]>`
      select location_id, till_id from reports where v2 is not null order by day
      limit ${environment.isQuick ? 10 : 60}`;
    const pack = async (each: TillKey[]) => {
      for (const till of each) await packTill(stores, till);
      return each.length;
    };
    reportProgress("measuring the cost of packing");
    await pack(tills.slice(0, 2));
    return await measureTillCost(environment, readOwnCpuSeconds, () => pack(tills.slice(2)));
  } finally {
    await stores.close();
  }
}

/** Computes the figures by dimension of the sample in this process, and stores them in transactions that are rolled back. */
async function measureMetrics(
  environment: BenchEnvironment,
  reportProgress: (detail: string) => void,
): Promise<TillCost> {
  const stores = openPackedOrderHistoryStores(environment, namespace);
  try {
    const locationId = randomUUID();
    const till = TillV2.parse(JSON.parse(benchBusyShiftTillJson));
    const computed = computeDocuments(till, { locationId });
    if (!computed) throw new Error("The sample till has no report.");
    const computeAndStore = async (tills: number) => {
      for (let number = 0; number < tills; number += 1) {
        const metrics = computeTillMetrics(computed.reportableOrders, computed.reportV2, { timeZone: "Europe/Paris" });
        const rollback = new Error("roll back");
        await stores.db
          .transaction(async (tx) => {
            const key = { locationId, tillId: till.id, day: "2020-01-01", previousDay: undefined };
            await replaceTillMetrics(tx, { ...key, metrics });
            throw rollback;
          })
          .catch((error: unknown) => {
            if (error !== rollback) throw error;
          });
      }
      return tills;
    };
    reportProgress("measuring the cost of figures by dimension");
    await computeAndStore(20);
    return await measureTillCost(environment, readOwnCpuSeconds, () =>
      computeAndStore(environment.isQuick ? 100 : 400),
    );
  } finally {
    await stores.close();
  }
}

/** Merges the figures of past months, as a periodic task does. */
async function mergeMonths(environment: BenchEnvironment): Promise<void> {
  const stores = openPackedOrderHistoryStores(environment, namespace);
  try {
    await mergeMetricMonths({ db: stores.db, log: createLogger({ name: "bench", level: "silent" }) });
  } finally {
    await stores.close();
  }
}

/** Returns the bytes of the tables of figures by dimension, after `measureStoredBytes`. */
async function measureMetricBytes({ urls }: BenchEnvironment): Promise<number> {
  const sql = postgres(urls.DATABASE_URL, { max: 1, onnotice: () => {} });
  try {
    const [row] = await sql<[{ bytes: string }]>`
      select coalesce(sum(pg_total_relation_size(relid)), 0) as bytes from pg_stat_user_tables
      where schemaname = ${buildServiceSchemaName(namespace, "reporting")} and relname like 'metric\_%'`;
    return Number(row.bytes);
  } finally {
    await sql.end();
  }
}

function readOwnCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Returns the bytes per order of each part. */
function listPartBytes(stored: StoredBytes, before: StoredBytes, orders: number): StoredBytes {
  const parts = Object.keys(stored) as (keyof StoredBytes)[];
  return Object.fromEntries(parts.map((part) => [part, (stored[part] - before[part]) / orders])) as StoredBytes;
}

function describePartBytes(stored: StoredBytes, before: StoredBytes, orders: number): string {
  return Object.entries(listPartBytes(stored, before, orders))
    .toSorted(([, one], [, other]) => other - one)
    .map(([part, bytes]) => `${part} ${Math.round(bytes)}`)
    .join(", ");
}

/**
 * Moves each till to a day of its own, years ago, because all of them have the day of the same sample. The first till,
 * which is not packed, gets the latest day, as tills that are not packed usually have.
 */
async function moveTillsToOldDays({ urls }: BenchEnvironment): Promise<void> {
  const sql = postgres(urls.DATABASE_URL, { max: 1, onnotice: () => {} });
  const schema = sql(buildServiceSchemaName(namespace, "reporting"));
  try {
    await sql`
      update ${schema}.reports set day = date '2020-01-01' + number::int
      from (select till_id, row_number() over (order by created_at desc) as number from ${schema}.reports) as numbered
      where numbered.till_id = reports.till_id`;
    await sql`
      update ${schema}.orders set day = reports.day from ${schema}.reports where reports.till_id = orders.till_id`;
    for (const table of ["metric_totals", "metric_cells"])
      await sql`
        update ${schema}.${sql(table)} as figures set day = reports.day from ${schema}.reports
        where reports.till_id = figures.till_id`;
    await sql`delete from ${schema}.day_counts`;
    await sql`
      insert into ${schema}.day_counts
      select location_id, 'order', day, count(*) from ${schema}.orders group by 1, 3
      union all select location_id, 'report', day, count(*) from ${schema}.reports group by 1, 3`;
  } finally {
    await sql.end();
  }
}

/**
 * Lets the reports appear older than they are, except the first, and waits until the product has packed their tills.
 */
async function packAllTills({ urls }: BenchEnvironment, reportProgress: (detail: string) => void): Promise<void> {
  const sql = postgres(urls.DATABASE_URL, { max: 1, onnotice: () => {} });
  const schema = sql(buildServiceSchemaName(namespace, "reporting"));
  try {
    await sql`
      update ${schema}.reports set updated_at = updated_at - interval '2 days'
      where created_at > (select min(created_at) from ${schema}.reports)`;
    for (;;) {
      const [row] = await sql<[{ left: number }]>`
        select count(*)::int as left from ${schema}.reports where v2 is not null`;
      if (row.left <= 1) return;
      reportProgress(`${row.left} tills to pack`);
      await sleep(1_000);
    }
  } finally {
    await sql.end();
  }
}

/**
 * Deletes the rows about tills that periodic tasks delete long before `HOT_DAYS`: the tills that order-live remembers for
 * `LIVE_ORDERS_RETENTION_DAYS`, and the events that a service remembers having handled.
 */
async function deleteShortLivedRows({ urls }: BenchEnvironment): Promise<void> {
  const sql = postgres(urls.DATABASE_URL, { max: 1, onnotice: () => {} });
  try {
    await sql`delete from ${sql(buildServiceSchemaName(namespace, "order-live"))}.final_tills`;
    for (const service of serviceNames) await sql`delete from ${sql(buildServiceSchemaName(namespace, service))}.inbox`;
  } finally {
    await sql.end();
  }
}

const measuredReads = 40;

/** Returns the durations of reading pages of 100 orders and single orders, in milliseconds. */
async function measureReads(
  { url }: BenchPragmaDeployment,
  { headers }: BenchLocation,
): Promise<{ page: number[]; order: number[] }> {
  const readTimed = async (path: string) => {
    const startedMs = performance.now();
    const response = await fetch(`${url}${path}`, { headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`GET ${path} returned ${response.status}: ${text}`);
    return { text, milliseconds: performance.now() - startedMs };
  };
  const durations: { page: number[]; order: number[] } = { page: [], order: [] };
  let nextPageToken = "";
  for (let read = 0; read < measuredReads; read += 1) {
    const { text, milliseconds } = await readTimed(
      `/v1/orders/?size=100${nextPageToken && `&pageToken=${nextPageToken}`}`,
    );
    durations.page.push(milliseconds);
    const page = JSON.parse(text) as { data: { id: string }[]; nextPageToken: string | null };
    nextPageToken = page.nextPageToken ?? "";
    const id = page.data[read % page.data.length]?.id;
    durations.order.push((await readTimed(`/v1/orders/${id}`)).milliseconds);
  }
  return durations;
}

interface TillPushes {
  location: BenchLocation;
  tills: number;
  reportProgress(detail: string): void;
}

/** Pushes tills with orders of their own, and waits for their reports. @returns the bytes of the request bodies. */
async function pushTills(
  { url }: BenchPragmaDeployment,
  { location: { headers }, tills, reportProgress }: TillPushes,
): Promise<number> {
  const createTill = createBenchTillRequestGenerator(benchBusyShiftTillJson);
  let bytes = 0;
  for (let pushed = 1; pushed <= tills; pushed += 1) {
    const { id, body } = createTill();
    const response = await fetch(`${url}/v2/tills/`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
    });
    if (!response.ok) throw new Error(`The push of the till returned ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
    bytes += Buffer.byteLength(body);
    await eventually("the report of the till", async () => {
      const report = await fetch(`${url}/v2/reports/${computeTillReportId(id)}`, { headers });
      await report.arrayBuffer();
      return report.ok;
    });
    reportProgress(`${pushed} of ${tills} tills`);
  }
  return bytes;
}

/** Vacuums all tables, so that dead rows leave room for new ones, and returns the size of each part. */
async function measureStoredBytes({ folder, urls }: BenchEnvironment): Promise<StoredBytes> {
  const sql = postgres(urls.DATABASE_URL, { max: 1, onnotice: () => {} });
  try {
    await sql`vacuum (full, analyze)`;
    const objects = join(folder, namespace, "objects");
    const packedBytes = readFolderBytes(join(objects, "packed"));
    const sizes = new Map<keyof StoredBytes, number>([
      ["bodies of tills", readFolderBytes(objects) - packedBytes],
      ["packed tills", packedBytes],
    ]);
    for (const service of serviceNames) {
      const [row] = await sql<[{ bytes: string }]>`
        select coalesce(sum(pg_total_relation_size(relid)), 0) as bytes from pg_stat_user_tables
        where schemaname = ${buildServiceSchemaName(namespace, service)}`;
      sizes.set(service, Number(row.bytes));
    }
    return Object.fromEntries(sizes) as StoredBytes;
  } finally {
    await sql.end();
  }
}

function readFolderBytes(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
