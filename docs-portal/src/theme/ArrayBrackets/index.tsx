import type { ReactNode } from "react";
import styles from "./styles.module.css";

/** Before the fields of a list's items. */
export function OpeningArrayBracket(): ReactNode {
  return <div className={styles.bracket}>Array [</div>;
}

/** After them. */
export function ClosingArrayBracket(): ReactNode {
  return <div className={styles.bracket}>]</div>;
}
