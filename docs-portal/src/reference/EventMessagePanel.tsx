import CodeBlock from "@theme/CodeBlock";
import type { ReactNode } from "react";
import { exampleRequestBodyOf, type TryItOperation } from "../try-it/operation.ts";
import styles from "../try-it/styles.module.css";

/** Renders an example of a webhook message, with its headers. */
export function EventMessagePanel({ operation }: { operation: TryItOperation }): ReactNode {
  const headers = (operation.parameters ?? []).map(({ name, example }) => `${name}: ${example}`);
  return (
    <section className={styles.panel} aria-label="Example message">
      <div className={styles.part}>
        <div className={styles.bar}>
          <span className={styles.title}>Message headers</span>
        </div>
        <div className={styles.scroll}>
          <CodeBlock language="http">{headers.join("\n")}</CodeBlock>
        </div>
      </div>
      <div className={`${styles.part} ${styles.responsePart}`}>
        <div className={styles.bar}>
          <span className={styles.title}>Message body</span>
        </div>
        <div className={styles.scroll}>
          <CodeBlock language="json">{exampleRequestBodyOf(operation) ?? ""}</CodeBlock>
        </div>
      </div>
    </section>
  );
}
