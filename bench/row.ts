import type { Figure } from "./figure.ts";
import type { Lab } from "./lab.ts";

/** One of the bench's questions. */
export interface Row {
  /** By which `--only` names it. */
  id: string;
  title: string;
  /** What its limit is: the other side of every ratio. */
  limit: string;
  /** Measures; `tell` shows what is being done. */
  run(lab: Lab, tell: (detail: string) => void): Promise<Outcome>;
}

export interface Outcome {
  figures: Figure[];
  /** What a reader needs to know besides. */
  notes: string[];
}

/** What became of a row: measured, or not, and why. */
export type Result = Pick<Row, "id" | "title" | "limit"> & (Outcome | { skipped: string } | { failed: string });

/** A row cannot be measured on this machine. */
export class Skip extends Error {}
