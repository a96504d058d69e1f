import { setTimeout as sleep } from "node:timers/promises";
import { startOrderPageBaselineServer } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import {
  type BenchPragmaDeployment,
  type BenchPragmaProcessRole,
  serviceAndGatewayBenchRoles,
  singleProcessBenchRoles,
} from "../bench-pragma-deployment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import { type BenchmarkMeasurementPair, computeBenchmarkComparison } from "../benchmark-figure.ts";
import { pushBenchTillAndAwaitReport } from "../push-shift-till.ts";
import { benchBusyShiftTillJson } from "../sample-tills.ts";

/** Milliseconds to wait after a process has started, so that it is idle when its memory is measured. */
const startupIdleMs = 2_000;

export const memoryBenchmark: BenchmarkDefinition = {
  id: "f",
  title: "Resident memory of each process: idle after its start, and the peak under load",
  baseline: "plain node:http with postgres.js, idle and under the same load of pages",
  async run(environment, reportProgress) {
    const pairs = new Map<string, BenchmarkMeasurementPair[]>();
    const repetitions = environment.isQuick ? 1 : 3;
    for (let repetition = 1; repetition <= repetitions; repetition += 1) {
      for (const shape of deploymentShapes) {
        const product = await environment.startProduct(`bench_memory_${shape.roles.length}_${repetition}`, shape.roles);
        try {
          const step = (detail: string) => reportProgress(`${shape.name}, ${repetition} of ${repetitions}: ${detail}`);
          for (const { label, ...pair } of await measureMemory(environment, product, {
            name: shape.name,
            reportProgress: step,
          })) {
            pairs.set(label, [...(pairs.get(label) ?? []), pair]);
          }
        } finally {
          await product.stop();
        }
      }
    }
    const figures = [...pairs].map(([label, of]) => computeBenchmarkComparison(of, { label, unit: "MB" }));
    return { figures, notes: [`The load: ${describeMemoryLoad(memoryLoadSize(environment))}.`] };
  },
};

const deploymentShapes: { name: string; roles: BenchPragmaProcessRole[] }[] = [
  { name: "all in one", roles: singleProcessBenchRoles },
  { name: "split", roles: serviceAndGatewayBenchRoles },
];

interface MemoryLoadSize {
  tills: number;
  seconds: number;
}

const memoryLoadSize = ({ isQuick }: BenchEnvironment): MemoryLoadSize =>
  isQuick ? { tills: 8, seconds: 2 } : { tills: 40, seconds: 5 };

function describeMemoryLoad({ tills, seconds }: MemoryLoadSize): string {
  return `${tills} tills of 1.4 MB from 4 pushers, then ${seconds} s each of reports (58 KB) and of pages of 100 orders, from 16 connections`;
}

async function measureMemory(
  environment: BenchEnvironment,
  product: BenchPragmaDeployment,
  { name, reportProgress }: { name: string; reportProgress(detail: string): void },
): Promise<(BenchmarkMeasurementPair & { label: string })[]> {
  reportProgress("idle");
  await sleep(startupIdleMs);
  const idleMemory = product.processes.map(({ memoryMegabytes }) => memoryMegabytes().now);
  const benchLocation = await createBenchLocation(product);
  const path = await pushBenchTillAndAwaitReport(product, benchLocation);
  const baselineServer = await startOrderPageBaselineServer(environment, product, benchLocation.locationId);
  try {
    await sleep(startupIdleMs);
    const baselineIdleMemory = baselineServer.memoryMegabytes().now;
    reportProgress("under load");
    await applyMemoryLoad(environment, { product, benchLocation, path });
    await requestOrderPages(environment, baselineServer.url, {});
    const baselinePeak = baselineServer.memoryMegabytes().peak;
    return product.processes.flatMap(({ role, memoryMegabytes }, index) => {
      const processLabel = role === "all" ? name : `${name}, ${role}`;
      return [
        { label: `${processLabel}: idle`, ours: idleMemory[index] ?? 0, baseline: baselineIdleMemory },
        { label: `${processLabel}: peak`, ours: memoryMegabytes().peak, baseline: baselinePeak },
      ];
    });
  } finally {
    await baselineServer.stop();
  }
}

async function applyMemoryLoad(
  environment: BenchEnvironment,
  { product, benchLocation, path }: { product: BenchPragmaDeployment; benchLocation: BenchLocation; path: string },
) {
  const { tills, seconds } = memoryLoadSize(environment);
  const target = { origin: product.url, headers: benchLocation.headers };
  await environment.loadGenerator.run("push", {
    ...target,
    template: benchBusyShiftTillJson,
    tills,
    pushers: 4,
    pollIntervalMs: 20,
  });
  await environment.loadGenerator.run("saturate", { ...target, path, seconds, connections: 16 });
  await requestOrderPages(environment, target.origin, target.headers);
}

async function requestOrderPages(
  environment: BenchEnvironment,
  origin: string,
  headers: Record<string, string>,
): Promise<void> {
  const { seconds } = memoryLoadSize(environment);
  await environment.loadGenerator.run("saturate", {
    origin,
    headers,
    path: "/v1/orders/?size=100",
    seconds,
    connections: 16,
  });
}
