import type { BenchEnvironment } from "./bench-environment.ts";
import {
  type BenchmarkMeasurementPair,
  type BenchmarkRatioGoal,
  computeBenchmarkComparison,
  type ProductToBaselineComparison,
} from "./benchmark-figure.ts";
import { runWrk } from "./wrk.ts";

const connectionCount = 16;

/** A path of a server that is measured. */
export interface MeasuredPath {
  origin: string;
  path: string;
  headers: Record<string, string>;
  cpuSeconds(): number;
}

interface ThroughputComparison {
  label: string;
  ours: MeasuredPath;
  /** What the product is compared with, by the end of the label. The goals are those of requests per second. */
  others: { name: string; measured: MeasuredPath; goal?: BenchmarkRatioGoal }[];
  reportProgress(detail: string): void;
}

/**
 * Measures the product and others in turns under full load. Returns figures of their requests per second, and of the
 * CPU time of their processes for each request.
 */
export async function compareThroughput(
  environment: Pick<BenchEnvironment, "isQuick">,
  { label, ours, others, reportProgress }: ThroughputComparison,
): Promise<ProductToBaselineComparison[]> {
  const seconds = environment.isQuick ? 1 : 3;
  const turns = environment.isQuick ? 2 : 5;
  const measure = async ({ origin, path, headers, cpuSeconds }: MeasuredPath) => {
    const before = cpuSeconds();
    const { requests, perSecond } = await runWrk({
      url: origin + path,
      headers,
      connections: connectionCount,
      seconds,
    });
    return { perSecond, cpuMicroseconds: (1e6 * (cpuSeconds() - before)) / requests };
  };
  reportProgress(`${label}: warming up`);
  for (const measured of [ours, ...others.map((other) => other.measured)]) {
    await measure(measured);
    await measure(measured);
  }
  const rates = others.map((): BenchmarkMeasurementPair[] => []);
  const costs = others.map((): BenchmarkMeasurementPair[] => []);
  for (let turn = 1; turn <= turns; turn += 1) {
    reportProgress(`${label}, ${turn} of ${turns}`);
    const own = await measure(ours);
    for (const [index, { measured }] of others.entries()) {
      const other = await measure(measured);
      rates[index]?.push({ ours: own.perSecond, baseline: other.perSecond });
      costs[index]?.push({ ours: own.cpuMicroseconds, baseline: other.cpuMicroseconds });
    }
  }
  return others.flatMap(({ name, goal }, index) => [
    computeBenchmarkComparison(rates[index] ?? [], {
      label: `${label} against ${name}`,
      unit: "/s",
      ...(goal && { goal }),
    }),
    computeBenchmarkComparison(costs[index] ?? [], { label: `${label} against ${name}`, unit: "CPU µs" }),
  ]);
}
