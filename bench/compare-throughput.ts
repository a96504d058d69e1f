import { type Figure, figureOf, type Goal, type Pair } from "./figure.ts";
import type { Lab } from "./lab.ts";
import type { Side } from "./same-replies.ts";

const connections = 8;

interface MeasuredSide extends Side {
  cpuSeconds(): number;
}

interface Comparison {
  what: string;
  path: string;
  goal: Goal;
  ours: MeasuredSide;
  theirs: MeasuredSide;
  /** The bare query sent as text, measured in the same turns. */
  bareQuery: MeasuredSide | undefined;
  tell(detail: string): void;
}

/** Compares how many requests two servers answer in a second that are asked as fast as they answer, in turns. */
export async function compareThroughput(lab: Lab, comparison: Comparison): Promise<Figure[]> {
  const { what, path, goal, ours, theirs, bareQuery, tell } = comparison;
  const seconds = lab.isQuick ? 1 : 3;
  const repetitions = lab.isQuick ? 3 : 7;
  const measure = async ({ origin, headers, cpuSeconds }: MeasuredSide) => {
    const before = cpuSeconds();
    const answer = await lab.load.run("saturate", { origin, headers, path, connections, seconds });
    return { rate: answer.requests / answer.seconds, perCpuSecond: answer.requests / (cpuSeconds() - before) };
  };
  tell(`${what}: warming up`);
  for (let turn = 0; turn < 3; turn += 1) {
    for (const side of [ours, theirs]) await measure(side);
    if (bareQuery) await measure(bareQuery);
  }
  const rates: Pair[] = [];
  const costs: Pair[] = [];
  const bareRates: Pair[] = [];
  for (let turn = 1; turn <= repetitions; turn += 1) {
    tell(`${what}, ${turn} of ${repetitions}`);
    const mine = await measure(ours);
    const other = await measure(theirs);
    rates.push({ ours: mine.rate, limit: other.rate });
    costs.push({ ours: mine.perCpuSecond, limit: other.perCpuSecond });
    if (bareQuery) bareRates.push({ ours: (await measure(bareQuery)).rate, limit: other.rate });
  }
  return [
    figureOf(rates, { what: `${what}: requests as fast as it goes`, unit: "/s", goal }),
    figureOf(costs, { what: `${what}: requests`, unit: "/CPU s" }),
    ...(bareQuery ? [figureOf(bareRates, { what: `${what}: the bare query as text, not ours`, unit: "/s" })] : []),
  ];
}
