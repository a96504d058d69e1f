import { serviceNames } from "@pragma/contracts/service-names";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { eventually } from "@pragma/runtime/testing/eventually";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import { type BenchPragmaDeployment, singleProcessBenchRoles } from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import { computeBenchmarkComparison, type ProductToBaselineComparison } from "../benchmark-figure.ts";
import { createBenchTillRequestGenerator } from "../load/bench-till-request-generator.ts";
import { benchBusyShiftTillJson } from "../sample-tills.ts";
import { storageFigureLabels } from "../sizing-tables.ts";
import { deleteShortLivedRows, mergeMonths, moveTillsToOldDays, packAllTills } from "../stored-bytes/age-tills.ts";
import { measureReads } from "../stored-bytes/measure-order-reads.ts";
import {
  describePartBytes,
  listPartBytes,
  measureMetricBytes,
  measureStoredBytes,
  namespace,
  type StoredBytes,
} from "../stored-bytes/measure-stored-bytes.ts";
import { measureMetrics, measurePacking, measureTillCost, type TillCost } from "../stored-bytes/measure-till-cost.ts";

const ordersPerTill = 150;

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
