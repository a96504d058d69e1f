import type { BenchEnvironment } from "./bench-environment.ts";
import {
  type BenchmarkMeasurementPair,
  type BenchmarkRatioGoal,
  computeBenchmarkComparison,
  type ProductToBaselineComparison,
} from "./benchmark-figure.ts";
import type { ComparedServer } from "./same-responses.ts";

const connectionCount = 8;

interface MeasuredServer extends ComparedServer {
  cpuSeconds(): number;
}

interface ThroughputComparison {
  label: string;
  path: string;
  goal: BenchmarkRatioGoal;
  ours: MeasuredServer;
  comparedServer: MeasuredServer;
  /** A server that only runs the query and sends the stored JSON. If set, it is measured too, for comparison. */
  plainQuery: MeasuredServer | undefined;
  reportProgress(detail: string): void;
}

/**
 * Measures two servers alternately under full load. Returns figures of their requests per second, and of their requests
 * per CPU second.
 */
export async function compareThroughput(
  environment: BenchEnvironment,
  comparison: ThroughputComparison,
): Promise<ProductToBaselineComparison[]> {
  const { label, path, goal, ours, comparedServer, plainQuery, reportProgress } = comparison;
  const seconds = environment.isQuick ? 1 : 3;
  const repetitions = environment.isQuick ? 3 : 7;
  const measure = async ({ origin, headers, cpuSeconds }: MeasuredServer) => {
    const before = cpuSeconds();
    const result = await environment.loadGenerator.run("saturate", {
      origin,
      headers,
      path,
      connections: connectionCount,
      seconds,
    });
    return { rate: result.requests / result.seconds, perCpuSecond: result.requests / (cpuSeconds() - before) };
  };
  reportProgress(`${label}: warming up`);
  for (let repetition = 0; repetition < 3; repetition += 1) {
    for (const side of [ours, comparedServer]) await measure(side);
    if (plainQuery) await measure(plainQuery);
  }
  const rates: BenchmarkMeasurementPair[] = [];
  const costs: BenchmarkMeasurementPair[] = [];
  const plainQueryRates: BenchmarkMeasurementPair[] = [];
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    reportProgress(`${label}, ${repetition} of ${repetitions}`);
    const ourResult = await measure(ours);
    const comparedResult = await measure(comparedServer);
    rates.push({ ours: ourResult.rate, baseline: comparedResult.rate });
    costs.push({ ours: ourResult.perCpuSecond, baseline: comparedResult.perCpuSecond });
    if (plainQuery) plainQueryRates.push({ ours: (await measure(plainQuery)).rate, baseline: comparedResult.rate });
  }
  return [
    computeBenchmarkComparison(rates, { label: `${label}: requests at the maximum rate`, unit: "/s", goal }),
    computeBenchmarkComparison(costs, { label: `${label}: requests`, unit: "/CPU s" }),
    ...(plainQuery
      ? [
          computeBenchmarkComparison(plainQueryRates, {
            label: `${label}: the plain query as text, not the product`,
            unit: "/s",
          }),
        ]
      : []),
  ];
}
