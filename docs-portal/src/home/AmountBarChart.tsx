import type { ReactNode } from "react";
import { formatEuroAmount } from "../money/format-amount.ts";
import styles from "./report.module.css";
import type { ChartAmountWithName } from "./sums.ts";

/** Renders named amounts, each with a bar whose length is relative to the largest amount. */
export function AmountBarChart({ of }: { of: ChartAmountWithName[] }): ReactNode {
  const maxAmount = Math.max(...of.map(({ amount }) => amount));
  return (
    <ul className={styles.shares}>
      {of.map(({ name, amount }) => (
        <li key={name}>
          <span>{name}</span>
          <span className={styles.amount}>{formatEuroAmount(amount)}</span>
          <span className={styles.bar} style={{ width: `${(Math.max(amount, 0) / maxAmount) * 100}%` }} />
        </li>
      ))}
    </ul>
  );
}
