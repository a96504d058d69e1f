import type { ReactNode } from "react";
import { formatAmount } from "./format-amount.ts";

/** An amount as in API responses, and formatted for readers. */
export function Amount({ of }: { of: number }): ReactNode {
  return (
    <>
      <code>{of}</code> is {formatAmount(of)}
    </>
  );
}
