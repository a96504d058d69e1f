import type { ReactNode } from "react";
import { formatAmount } from "../money/format-amount.ts";
import styles from "./report.module.css";
import type { Share } from "./sums.ts";

/** Amounts by name, each with a bar for its share. */
export function Shares({ of }: { of: Share[] }): ReactNode {
  const most = Math.max(...of.map(({ amount }) => amount));
  return (
    <ul className={styles.shares}>
      {of.map(({ name, amount }) => (
        <li key={name}>
          <span>{name}</span>
          <span className={styles.amount}>{formatAmount(amount)}</span>
          <span className={styles.bar} style={{ width: `${(Math.max(amount, 0) / most) * 100}%` }} />
        </li>
      ))}
    </ul>
  );
}
