import type { ReactNode } from "react";
import styles from "./styles.module.css";

/** Renders the opening bracket above the fields of array items. */
export function OpeningArrayBracket(): ReactNode {
  return <div className={styles.bracket}>Array [</div>;
}

/** Renders the closing bracket below the fields of array items. */
export function ClosingArrayBracket(): ReactNode {
  return <div className={styles.bracket}>]</div>;
}
