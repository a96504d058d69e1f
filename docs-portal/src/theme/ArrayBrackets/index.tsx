import type { ReactNode } from "react";
import styles from "./styles.module.css";

/** The bracket before the fields of an array's items. */
export function OpeningArrayBracket(): ReactNode {
  return <div className={styles.bracket}>Array [</div>;
}

/** The bracket after the fields of an array's items. */
export function ClosingArrayBracket(): ReactNode {
  return <div className={styles.bracket}>]</div>;
}
