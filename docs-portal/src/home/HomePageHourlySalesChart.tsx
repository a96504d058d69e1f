import type { ReactNode } from "react";
import { formatEuroAmount } from "../money/format-amount.ts";
import styles from "./report.module.css";

/** Renders the sales of a day as a chart with one column per hour. Amounts are in minor units. */
export function HomePageHourlySalesChart({ hours }: { hours: { hour: number; amount: number }[] }): ReactNode {
  const maxAmount = Math.max(...hours.map(({ amount }) => amount));
  return (
    <ol className={styles.hours}>
      {hours.map(({ hour, amount }) => (
        <li key={hour} title={`${hour}:00, ${formatEuroAmount(amount)}`}>
          <span className={styles.column} style={{ height: `${(amount / maxAmount) * 100}%` }} />
          <span className={styles.hour} aria-hidden="true">
            {hour}
          </span>
          <span className="screen-reader-only">
            {hour}:00, {formatEuroAmount(amount)}
          </span>
        </li>
      ))}
    </ol>
  );
}
