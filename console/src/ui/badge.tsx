import type { ReactNode } from "react";

export type Tone = "good" | "bad" | "warning" | "info" | "neutral";

/** A state in a word. Its color repeats the word, and never replaces it. */
export const Badge = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className={`badge badge-${tone}`}>{children}</span>
);
