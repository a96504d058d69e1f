import { setTimeout as sleep } from "node:timers/promises";
import { startOrderPageBaseline } from "../baseline-server.ts";
import type { BenchEnvironment } from "../bench-environment.ts";
import { type BenchLocation, createBenchLocation } from "../bench-location.ts";
import type { Benchmark } from "../benchmark.ts";
import { type MeasurementPair, summarizeMeasurements } from "../benchmark-figure.ts";
import { allInOneRoles, type BenchProductRole, type ProductUnderLoad, splitRoles } from "../product-under-load.ts";
import { pushShiftTillAndAwaitReport } from "../push-shift-till.ts";
import { busyShiftTillJson } from "../sample-tills.ts";

/** Milliseconds after which a process that was started is at rest. */
const startupRestMs = 2_000;

export const memoryBenchmark: Benchmark = {
  id: "f",
  title: "Resident memory of each process: at rest after its start, and the most under load",
  limit: "plain node:http with postgres.js, at rest and under the same load of pages",
  async run(lab, tell) {
    const pairs = new Map<string, MeasurementPair[]>();
    const repetitions = lab.isQuick ? 1 : 3;
    for (let turn = 1; turn <= repetitions; turn += 1) {
      for (const shape of deploymentShapes) {
        const product = await lab.startProduct(`bench_memory_${shape.roles.length}_${turn}`, shape.roles);
        try {
          const step = (detail: string) => tell(`${shape.name}, ${turn} of ${repetitions}: ${detail}`);
          for (const { what, ...pair } of await measureMemory(lab, product, { name: shape.name, tell: step })) {
            pairs.set(what, [...(pairs.get(what) ?? []), pair]);
          }
        } finally {
          await product.stop();
        }
      }
    }
    const figures = [...pairs].map(([what, of]) => summarizeMeasurements(of, { what, unit: "MB" }));
    return { figures, notes: [`The load: ${describeMemoryLoad(memoryLoadSize(lab))}.`] };
  },
};

const deploymentShapes: { name: string; roles: BenchProductRole[] }[] = [
  { name: "all in one", roles: allInOneRoles },
  { name: "split", roles: splitRoles },
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
  lab: BenchEnvironment,
  product: ProductUnderLoad,
  { name, tell }: { name: string; tell(detail: string): void },
): Promise<(MeasurementPair & { what: string })[]> {
  tell("at rest");
  await sleep(startupRestMs);
  const atRest = product.processes.map(({ memoryMegabytes }) => memoryMegabytes().now);
  const shop = await createBenchLocation(product);
  const path = await pushShiftTillAndAwaitReport(product, shop);
  const bare = await startOrderPageBaseline(lab, product, shop.locationId);
  try {
    await sleep(startupRestMs);
    const bareAtRest = bare.memoryMegabytes().now;
    tell("under load");
    await applyMemoryLoad(lab, { product, shop, path });
    await requestOrderPages(lab, bare.url, {});
    const barePeak = bare.memoryMegabytes().peak;
    return product.processes.flatMap(({ role, memoryMegabytes }, index) => {
      const who = role === "all" ? name : `${name}, ${role}`;
      return [
        { what: `${who}: at rest`, ours: atRest[index] ?? 0, limit: bareAtRest },
        { what: `${who}: at its peak`, ours: memoryMegabytes().peak, limit: barePeak },
      ];
    });
  } finally {
    await bare.stop();
  }
}

async function applyMemoryLoad(
  lab: BenchEnvironment,
  { product, shop, path }: { product: ProductUnderLoad; shop: BenchLocation; path: string },
) {
  const { tills, seconds } = memoryLoadSize(lab);
  const target = { origin: product.url, headers: shop.headers };
  await lab.loadGenerator.run("push", { ...target, template: busyShiftTillJson, tills, pushers: 4, askEvery: 20 });
  await lab.loadGenerator.run("saturate", { ...target, path, seconds, connections: 16 });
  await requestOrderPages(lab, target.origin, target.headers);
}

async function requestOrderPages(
  lab: BenchEnvironment,
  origin: string,
  headers: Record<string, string>,
): Promise<void> {
  const { seconds } = memoryLoadSize(lab);
  await lab.loadGenerator.run("saturate", { origin, headers, path: "/v1/orders/?size=100", seconds, connections: 16 });
}
