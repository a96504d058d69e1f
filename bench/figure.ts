import type { Spread } from "./spread.ts";
import { spreadOf } from "./spread.ts";

/** What a ratio should keep to. */
export type Goal = { atMost: number; aim?: number } | { atLeast: number };

/** One line of the table: what the product does, what is possible, and how the two compare. */
export interface Figure {
  what: string;
  /** Of both sides: "ms", "requests/s", ... */
  unit: string;
  ours: Spread;
  limit: Spread;
  /** Ours by the limit's, of each repetition. */
  ratio: Spread;
  goal?: Goal;
}

/** Whether a figure keeps to its goal; undefined when it has none. */
export function isMet({ goal, ratio }: Figure): boolean | undefined {
  if (!goal) return undefined;
  return "atMost" in goal ? ratio.median <= goal.atMost : ratio.median >= goal.atLeast;
}

/** A measurement of both sides, one right after the other, so that both meet the same machine. */
export interface Pair {
  ours: number;
  limit: number;
}

/** The figure that pairs of measurements make. */
export function figureOf(pairs: Pair[], { what, unit, goal }: { what: string; unit: string; goal?: Goal }): Figure {
  return {
    what,
    unit,
    ours: spreadOf(pairs.map(({ ours }) => ours)),
    limit: spreadOf(pairs.map(({ limit }) => limit)),
    ratio: spreadOf(pairs.map(({ ours, limit }) => ours / limit)),
    ...(goal && { goal }),
  };
}
