import type { ReactNode } from "react";
import { formatEuroAmount } from "./format-amount.ts";

/** Renders an amount in minor units, and its value in euros. Example: `280903` is €2,809.03. */
export function MoneyAmountView({ of }: { of: number }): ReactNode {
  return (
    <>
      <code>{of}</code> is {formatEuroAmount(of)}
    </>
  );
}
