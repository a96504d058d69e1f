import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { generateTill } from "@pragma/simulator/generate-till";
import type { BenchEnvironment } from "../bench-environment.ts";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import {
  type BenchPragmaDeployment,
  serviceAndGatewayBenchRoles,
  singleProcessBenchRoles,
} from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import { computeBenchmarkComparison, type ProductToBaselineComparison } from "../benchmark-figure.ts";
import type { LocationFloodKind } from "../load/load-jobs.ts";
import { computePercentile } from "../measurement-spread.ts";

/** The aims: half of the reports within 0.5 s, and each within 2 s. */
const maxMedianMs = 500;
const maxWorstMs = 2_000;
const pollMs = 20;
const pauseMs = 100;
/** Maximum time to wait for a report, in milliseconds. */
const reportTimeoutMs = 120_000;

const everything: LocationFloodKind[] = [
  ...(["largeTills", "changes", "exports", "metrics", "liveOrders", "reads", "mcpMessages", "mcpCalls"] as const),
];

/** What another location sends meanwhile, and whether a third location sends bodies that are refused. */
const rows: { name: string; kinds: LocationFloodKind[]; hasRefusedBodies?: boolean }[] = [
  { name: "alone", kinds: [] },
  { name: "3 pushes of 21 MB at a time", kinds: ["largeTills"] },
  { name: "450 change feed requests/s", kinds: ["changes"] },
  { name: "messages and batches to the MCP server", kinds: ["mcpMessages"] },
  { name: "tool calls of the MCP server", kinds: ["mcpCalls"] },
  { name: "everything", kinds: everything },
  { name: "everything and pages of the feed", kinds: [...everything, "changePages"] },
  { name: "everything, and refused bodies of a third location", kinds: everything, hasRefusedBodies: true },
];

const shapes = [
  { name: "all in one", roles: singleProcessBenchRoles },
  { name: "split", roles: serviceAndGatewayBenchRoles },
];

export const fairnessBenchmark: BenchmarkDefinition = {
  id: "fairness",
  title: "From the push of a location's small till to its report, while another location sends as much as it may",
  baseline: "the same without the other location; memory: the fresh process",
  async run(environment, reportProgress) {
    const figures: ProductToBaselineComparison[] = [];
    const notes: string[] = [];
    for (const shape of shapes) {
      const product = await environment.startProduct(`bench_fairness_${shape.roles.length}`, shape.roles);
      try {
        const step = (detail: string) => reportProgress(`${shape.name}: ${detail}`);
        const measured = await measureShape(environment, product, { name: shape.name, reportProgress: step });
        figures.push(...measured.figures);
        notes.push(...measured.notes);
      } finally {
        await product.stop();
      }
    }
    return { figures, notes };
  },
};

async function measureShape(
  environment: BenchEnvironment,
  product: BenchPragmaDeployment,
  { name, reportProgress }: { name: string; reportProgress(detail: string): void },
): Promise<{ figures: ProductToBaselineComparison[]; notes: string[] }> {
  const seconds = environment.isQuick ? 12 : 30;
  const [busy, measured, refused] = [
    await createBenchLocation(product),
    await createBenchLocation(product),
    await createBenchLocation(product),
  ];
  await measureReportTime(product, measured);
  // Creates the body of the large till before the time begins.
  const target = { origin: product.url, headers: busy.headers };
  await environment.loadGenerator.run("flood", { ...target, kinds: ["largeTills"], seconds: 0 });
  await sleep(2_000);
  const readMemory = () => product.processes.reduce((sum, each) => sum + each.memoryMegabytes().now, 0);
  const freshMemory = readMemory();
  const idleCpuSeconds = await measureCpuSeconds(product);
  const figures: ProductToBaselineComparison[] = [];
  const notes: string[] = [];
  let alone: { median: number; worst: number } | undefined;
  for (const row of rows) {
    reportProgress(row.name);
    const isOver = createTimer(seconds);
    const [flood, times, refusals] = await Promise.all([
      environment.loadGenerator.run("flood", { ...target, kinds: row.kinds, seconds }),
      measureReportTimes(product, measured, isOver),
      row.hasRefusedBodies ? measureRefusals(product, refused, isOver) : undefined,
    ]);
    const result = { median: computePercentile(times, 0.5), worst: Math.max(...times) };
    alone ??= result;
    const addFigure = (label: string, ours: number, baseline: number) =>
      figures.push(computeBenchmarkComparison([{ ours, baseline }], { label: `${name}, ${label}`, unit: "ms" }));
    addFigure(`${row.name}: median`, result.median, alone.median);
    addFigure(`${row.name}: worst`, result.worst, alone.worst);
    for (const [status, body] of refusals ? refusedBodyNames : []) {
      const ofStatus = (refusals ?? []).filter((each) => each.status === status);
      addFigure(
        `worst ${status} of a third location's ${body}`,
        Math.max(...ofStatus.map(({ ms }) => ms)),
        alone.worst,
      );
    }
    const isMet = result.median < maxMedianMs && result.worst < maxWorstMs;
    notes.push(
      `${name}, ${row.name}: ${times.length} tills, aim ${isMet ? "met" : "not met"}; ${JSON.stringify({ ...flood.statuses, refusals: countByStatus(refusals ?? []) })}`,
    );
    await waitUntilIdle(product, idleCpuSeconds);
  }
  const idleSeconds = environment.isQuick ? 10 : 60;
  const memoryFigure = (label: string) =>
    figures.push(
      computeBenchmarkComparison([{ ours: readMemory(), baseline: freshMemory }], {
        label: `${name}, memory ${label}`,
        unit: "MB",
      }),
    );
  memoryFigure("after all of that");
  reportProgress("idle");
  await sleep(idleSeconds * 1000);
  memoryFigure(`after ${idleSeconds} s without requests`);
  return { figures, notes };
}

function createTimer(seconds: number): () => boolean {
  const end = performance.now() + seconds * 1000;
  return () => performance.now() > end;
}

async function measureReportTimes(
  product: BenchPragmaDeployment,
  location: BenchLocation,
  isOver: () => boolean,
): Promise<number[]> {
  const times: number[] = [];
  while (!isOver()) {
    times.push(await measureReportTime(product, location));
    await sleep(pauseMs);
  }
  return times;
}

/** Returns the milliseconds from the push of a small till until its report can be read. */
async function measureReportTime(
  { url }: BenchPragmaDeployment,
  { headers }: Pick<BenchLocation, "headers">,
): Promise<number> {
  const till = generateTill({ seed: "fairness", tillId: randomUUID(), orders: 3, day: "2026-04-01" });
  const since = performance.now();
  const response = await fetch(`${url}/v2/tills/`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(till),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`POST /v2/tills/ returned ${response.status}: ${text}`);
  for (;;) {
    const report = await fetch(`${url}/v2/reports/${computeTillReportId(till.id)}`, { headers });
    await report.arrayBuffer();
    if (report.ok) return performance.now() - since;
    if (performance.now() - since > reportTimeoutMs) throw new Error(`No report after ${reportTimeoutMs} ms.`);
    await sleep(pollMs);
  }
}

const mebibyte = 1024 * 1024;
/** Bodies that are refused only after they have been read: one after decompression, one after it has been parsed. */
const refusedBodies = [
  { headers: { "content-encoding": "gzip" }, body: gzipSync(Buffer.alloc(60 * mebibyte, " ")) },
  { headers: {}, body: Buffer.from(`{"orderList":[${"1,".repeat(12 * mebibyte)}1]}`) },
];

const refusedBodyNames: [status: number, body: string][] = [
  [413, "60 MB in gzip"],
  [400, "24 MB of JSON"],
];

interface Refusal {
  status: number;
  ms: number;
}

/** Sends bodies that are refused, one after the other. */
async function measureRefusals(
  { url }: BenchPragmaDeployment,
  location: BenchLocation,
  isOver: () => boolean,
): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  for (let sent = 0; !isOver(); sent += 1) {
    const { headers, body } = refusedBodies[sent % refusedBodies.length] as (typeof refusedBodies)[number];
    const since = performance.now();
    const response = await fetch(`${url}/v2/tills/`, {
      method: "POST",
      headers: { ...location.headers, "content-type": "application/json", ...headers },
      body,
    });
    await response.arrayBuffer();
    refusals.push({ status: response.status, ms: performance.now() - since });
    await sleep(pauseMs);
  }
  return refusals;
}

function countByStatus(refusals: Refusal[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of refusals) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const cpuWindowMs = 1_000;
const maxIdleWaitMs = 60_000;

async function measureCpuSeconds(product: BenchPragmaDeployment): Promise<number> {
  const before = product.cpuSeconds();
  await sleep(cpuWindowMs);
  return product.cpuSeconds() - before;
}

/** Waits until the product uses about as little CPU time as at its start, because it computes the pushed tills' reports. */
async function waitUntilIdle(product: BenchPragmaDeployment, idleCpuSeconds: number): Promise<void> {
  const deadline = performance.now() + maxIdleWaitMs;
  for (let idle = 0; idle < 2 && performance.now() < deadline; )
    idle = (await measureCpuSeconds(product)) < idleCpuSeconds * 2 + 0.1 ? idle + 1 : 0;
}
