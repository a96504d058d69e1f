import type { ReactNode } from "react";
import { formatAmount } from "./format-amount.ts";

/** An amount as replies have it, and as people read it. */
export function Amount({ of }: { of: number }): ReactNode {
  return (
    <>
      <code>{of}</code> is {formatAmount(of)}
    </>
  );
}
