import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { computeTillReportId } from "@pragma/reporting/calculation/report-id";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import postgres from "postgres";
import type { BenchEnvironment } from "../bench-environment.ts";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import { type BenchPragmaDeployment, singleProcessBenchRoles } from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import { computeBenchmarkComparison } from "../benchmark-figure.ts";
import { createBenchTillRequestGenerator } from "../load/bench-till-request-generator.ts";
import { benchBusyShiftTillJson } from "../sample-tills.ts";

const ordersPerTill = 150;
const namespace = "bench_stored_bytes";

/** Bytes by the part of the product that stores them: a service's schema in PostgreSQL, or the object store. */
type StoredBytes = Record<ServiceName | "object store", number>;

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
      const pushedBytes = await pushTills(product, { location, tills, reportProgress });
      const after = await measureStoredBytes(environment);
      const orders = tills * ordersPerTill;
      const parts = (Object.keys(after) as (keyof StoredBytes)[])
        .map((part) => ({ part, bytes: (after[part] - before[part]) / orders }))
        .toSorted((one, other) => other.bytes - one.bytes);
      const ours = parts.reduce((sum, { bytes }) => sum + bytes, 0);
      const figure = computeBenchmarkComparison([{ ours, baseline: pushedBytes / orders }], {
        label: `${tills} tills in one location: PostgreSQL with indexes, and the object store`,
        unit: "bytes",
      });
      const list = parts.map(({ part, bytes }) => `${part} ${Math.round(bytes)}`).join(", ");
      return { figures: [figure], notes: [`Bytes per order by part: ${list}`] };
    } finally {
      await product.stop();
    }
  },
};

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
    await sql`vacuum full`;
    const sizes = new Map<keyof StoredBytes, number>([
      ["object store", readFolderBytes(join(folder, namespace, "objects"))],
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
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
