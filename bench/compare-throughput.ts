import type { BenchEnvironment } from "./bench-environment.ts";
import {
  type BenchmarkFigure,
  type MeasurementPair,
  type RatioGoal,
  summarizeMeasurements,
} from "./benchmark-figure.ts";
import type { ComparedServer } from "./same-responses.ts";

const connectionCount = 8;

interface MeasuredServer extends ComparedServer {
  cpuSeconds(): number;
}

interface ThroughputComparison {
  what: string;
  path: string;
  goal: RatioGoal;
  ours: MeasuredServer;
  theirs: MeasuredServer;
  /** The bare query sent as text, measured in the same turns. */
  bareQuery: MeasuredServer | undefined;
  tell(detail: string): void;
}

/** Compares how many requests two servers answer in a second that are asked as fast as they answer, in turns. */
export async function compareThroughput(
  lab: BenchEnvironment,
  comparison: ThroughputComparison,
): Promise<BenchmarkFigure[]> {
  const { what, path, goal, ours, theirs, bareQuery, tell } = comparison;
  const seconds = lab.isQuick ? 1 : 3;
  const repetitions = lab.isQuick ? 3 : 7;
  const measure = async ({ origin, headers, cpuSeconds }: MeasuredServer) => {
    const before = cpuSeconds();
    const answer = await lab.loadGenerator.run("saturate", {
      origin,
      headers,
      path,
      connections: connectionCount,
      seconds,
    });
    return { rate: answer.requests / answer.seconds, perCpuSecond: answer.requests / (cpuSeconds() - before) };
  };
  tell(`${what}: warming up`);
  for (let turn = 0; turn < 3; turn += 1) {
    for (const side of [ours, theirs]) await measure(side);
    if (bareQuery) await measure(bareQuery);
  }
  const rates: MeasurementPair[] = [];
  const costs: MeasurementPair[] = [];
  const bareRates: MeasurementPair[] = [];
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`${what}, ${turn} of ${repetitions}`);
    const mine = await measure(ours);
    const other = await measure(theirs);
    rates.push({ ours: mine.rate, limit: other.rate });
    costs.push({ ours: mine.perCpuSecond, limit: other.perCpuSecond });
    if (bareQuery) bareRates.push({ ours: (await measure(bareQuery)).rate, limit: other.rate });
  }
  return [
    summarizeMeasurements(rates, { what: `${what}: requests as fast as it goes`, unit: "/s", goal }),
    summarizeMeasurements(costs, { what: `${what}: requests`, unit: "/CPU s" }),
    ...(bareQuery
      ? [summarizeMeasurements(bareRates, { what: `${what}: the bare query as text, not ours`, unit: "/s" })]
      : []),
  ];
}
