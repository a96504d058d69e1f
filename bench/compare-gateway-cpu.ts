import type { BenchEnvironment } from "./bench-environment.ts";
import type { BenchmarkFiguresAndNotes } from "./benchmark.ts";
import {
  type BenchmarkMeasurementPair,
  type BenchmarkRatioGoal,
  computeBenchmarkComparison,
} from "./benchmark-figure.ts";
import { computeMedianMinMax } from "./measurement-spread.ts";
import { readTreeCpuSeconds } from "./process-usage.ts";
import type { ComparedServer } from "./same-responses.ts";

/** Requests per second at each hop. These rates are low enough that no hop is saturated. */
const lowRequestRates = [200, 400];
const connectionCount = 16;

interface MeasuredHop extends ComparedServer {
  pid: number;
}

interface GatewayCpuComparison {
  label: string;
  path: string;
  ours: MeasuredHop;
  /** @fastify/http-proxy with the same features as the gateway. */
  fastify: MeasuredHop;
  /** The gateway without API keys, rate limits and logging. */
  minimalGateway: MeasuredHop;
  nginx: MeasuredHop | undefined;
  reportProgress(detail: string): void;
}

/**
 * Returns figures of the CPU time that a request costs at several hops in front of a service. All hops serve the same
 * rate at the same time, so that other load on the machine affects all of them.
 */
export async function compareGatewayCpuWithProxies(
  environment: BenchEnvironment,
  comparison: GatewayCpuComparison,
): Promise<BenchmarkFiguresAndNotes> {
  const { label, path, ours, fastify, minimalGateway, nginx, reportProgress } = comparison;
  const seconds = environment.isQuick ? 3 : 10;
  const repetitions = environment.isQuick ? 3 : 5;
  const others: { name: string; hop: MeasuredHop; goal?: BenchmarkRatioGoal }[] = [
    { name: "against @fastify/http-proxy", hop: fastify, goal: { max: 1 } },
    { name: "against the gateway without keys, limits and log", hop: minimalGateway, goal: { max: 1.25 } },
    ...(nginx ? [{ name: "against nginx", hop: nginx }] : []),
  ];
  const hops = [ours, ...others.map(({ hop }) => hop)];

  reportProgress(`${label}: warming up`);
  // V8 compiles hot functions during the first few thousand requests, so these requests must not be measured.
  for (let repetition = 0; repetition < 2; repetition += 1) {
    for (const { origin, headers } of hops) {
      await environment.loadGenerator.run("saturate", {
        origin,
        headers,
        path,
        connections: connectionCount,
        seconds: environment.isQuick ? 2 : 5,
      });
    }
  }

  const outcome: BenchmarkFiguresAndNotes = { figures: [], notes: [] };
  for (const perSecond of lowRequestRates) {
    const pairs = others.map((): BenchmarkMeasurementPair[] => []);
    const shares: number[] = [];
    let dropped = 0;
    while (shares.length < repetitions && dropped <= repetitions * 2) {
      reportProgress(`${label} at ${perSecond} requests/s, ${shares.length + 1} of ${repetitions}`);
      const before = hops.map(({ pid }) => readTreeCpuSeconds(pid));
      const results = await environment.loadGenerator.run(
        "steady",
        hops.map(({ origin, headers }) => ({
          origin,
          headers,
          path,
          connections: connectionCount,
          seconds,
          perSecond,
        })),
      );
      const costs = hops.map(
        ({ pid }, index) => ((readTreeCpuSeconds(pid) - (before[index] ?? 0)) / (perSecond * seconds)) * 1e6,
      );
      const [mine, ...theirs] = costs;
      // If the machine did not reach the request rate, the measurement is not comparable.
      if (mine === undefined || results.some((result) => result.seconds > seconds * 1.1)) {
        dropped += 1;
        continue;
      }
      shares.push((mine * perSecond) / 1e6);
      for (const [index, baseline] of theirs.entries()) pairs[index]?.push({ ours: mine, baseline });
    }
    if (shares.length < repetitions) throw new Error(`This machine is too busy to serve ${perSecond} requests/s.`);
    for (const [index, { name, goal }] of others.entries()) {
      const figure = {
        label: `${label} at ${perSecond}/s: CPU per request, ${name}`,
        unit: "µs",
        ...(goal && { goal }),
      };
      outcome.figures.push(computeBenchmarkComparison(pairs[index] ?? [], figure));
    }
    const busy = Math.round(computeMedianMinMax(shares).max * 100);
    outcome.notes.push(
      `${label} at ${perSecond}/s: the gateway used at most ${busy} % of a core. Repetitions dropped because the rate was not reached: ${dropped}.`,
    );
  }
  return outcome;
}
