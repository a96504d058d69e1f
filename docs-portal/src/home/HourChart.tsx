import type { ReactNode } from "react";
import { formatAmount } from "../money/format-amount.ts";
import styles from "./report.module.css";

/** Columns for the hours of a day, as high as their sales. */
export function HourChart({ hours }: { hours: { hour: number; amount: number }[] }): ReactNode {
  const most = Math.max(...hours.map(({ amount }) => amount));
  return (
    <ol className={styles.hours}>
      {hours.map(({ hour, amount }) => (
        <li key={hour} title={`${hour}:00, ${formatAmount(amount)}`}>
          <span className={styles.column} style={{ height: `${(amount / most) * 100}%` }} />
          <span className={styles.hour} aria-hidden="true">
            {hour}
          </span>
          <span className={styles.spoken}>
            {hour}:00, {formatAmount(amount)}
          </span>
        </li>
      ))}
    </ol>
  );
}
