import type { BenchEnvironment } from "./bench-environment.ts";
import type { BenchmarkOutcome } from "./benchmark.ts";
import { type MeasurementPair, type RatioGoal, summarizeMeasurements } from "./benchmark-figure.ts";
import { computeMeasurementSpread } from "./measurement-spread.ts";
import { readPreciseTreeCpuSeconds } from "./process-usage.ts";
import type { ComparedServer } from "./same-responses.ts";

/** Requests a second at each hop, which saturate nobody. */
const lowRequestRates = [200, 400];
const connectionCount = 16;

interface MeasuredHop extends ComparedServer {
  pid: number;
}

interface GatewayCpuComparison {
  what: string;
  path: string;
  ours: MeasuredHop;
  /** @fastify/http-proxy with the same features. */
  fastify: MeasuredHop;
  /** The gateway without key, limit and log. */
  bare: MeasuredHop;
  nginx: MeasuredHop | undefined;
  tell(detail: string): void;
}

/**
 * Compares the CPU that a request costs at the hop before a service, of several hops that serve the same rate at the
 * same time: what disturbs the machine disturbs all of them.
 */
export async function compareGatewayCpu(
  lab: BenchEnvironment,
  comparison: GatewayCpuComparison,
): Promise<BenchmarkOutcome> {
  const { what, path, ours, fastify, bare, nginx, tell } = comparison;
  const seconds = lab.isQuick ? 3 : 10;
  const repetitions = lab.isQuick ? 3 : 5;
  const others: { name: string; hop: MeasuredHop; goal?: RatioGoal }[] = [
    { name: "against @fastify/http-proxy", hop: fastify, goal: { atMost: 1 } },
    { name: "against itself without key, limit and log", hop: bare, goal: { atMost: 1.25 } },
    ...(nginx ? [{ name: "against nginx", hop: nginx }] : []),
  ];
  const hops = [ours, ...others.map(({ hop }) => hop)];

  tell(`${what}: warming up`);
  // V8 compiles what is hot for thousands of requests yet: that is no cost of a request.
  for (let turn = 0; turn < 2; turn += 1) {
    for (const { origin, headers } of hops) {
      await lab.loadGenerator.run("saturate", {
        origin,
        headers,
        path,
        connections: connectionCount,
        seconds: lab.isQuick ? 2 : 5,
      });
    }
  }

  const outcome: BenchmarkOutcome = { figures: [], notes: [] };
  for (const perSecond of lowRequestRates) {
    const pairs = others.map((): MeasurementPair[] => []);
    const shares: number[] = [];
    let dropped = 0;
    while (shares.length < repetitions && dropped <= repetitions * 2) {
      tell(`${what} at ${perSecond} requests/s, ${shares.length + 1} of ${repetitions}`);
      const before = hops.map(({ pid }) => readPreciseTreeCpuSeconds(pid));
      const answers = await lab.loadGenerator.run(
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
        ({ pid }, index) => ((readPreciseTreeCpuSeconds(pid) - (before[index] ?? 0)) / (perSecond * seconds)) * 1e6,
      );
      const [mine, ...theirs] = costs;
      // A machine that did not keep up with the rate measured something else.
      if (mine === undefined || answers.some((answer) => answer.seconds > seconds * 1.1)) {
        dropped += 1;
        continue;
      }
      shares.push((mine * perSecond) / 1e6);
      for (const [index, limit] of theirs.entries()) pairs[index]?.push({ ours: mine, limit });
    }
    if (shares.length < repetitions) throw new Error(`This machine is too busy to serve ${perSecond} requests/s.`);
    for (const [index, { name, goal }] of others.entries()) {
      const figure = {
        what: `${what} at ${perSecond}/s: CPU of a request, ${name}`,
        unit: "µs",
        ...(goal && { goal }),
      };
      outcome.figures.push(summarizeMeasurements(pairs[index] ?? [], figure));
    }
    const busy = Math.round(computeMeasurementSpread(shares).most * 100);
    outcome.notes.push(
      `${what} at ${perSecond}/s: the gateway used at most ${busy} % of a core. Turns dropped because the rate was not kept: ${dropped}.`,
    );
  }
  return outcome;
}
