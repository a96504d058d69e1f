import CodeBlock from "@theme/CodeBlock";
import { type ReactNode, useState } from "react";
import { CutCode } from "../try-it/CutCode.tsx";
import { exampleRequestBodyOf, type TryItOperation } from "../try-it/operation.ts";
import styles from "../try-it/styles.module.css";

/** Renders an example of a webhook message, with its headers. */
export function EventMessagePanel({ operation }: { operation: TryItOperation }): ReactNode {
  const headers = (operation.parameters ?? []).map(({ name, example }) => `${name}: ${example}`);
  const [isExpanded, setIsExpanded] = useState(false);
  const showAll = isExpanded ? undefined : () => setIsExpanded(true);
  return (
    <section className={styles.panel} data-is-expanded={isExpanded || undefined} aria-label="Example message">
      <div className={`${styles.part} ${styles.headersPart}`}>
        <div className={styles.bar}>
          <span className={styles.title}>Message headers</span>
        </div>
        <CutCode onShowAll={showAll}>
          <CodeBlock language="http">{headers.join("\n")}</CodeBlock>
        </CutCode>
      </div>
      <div className={`${styles.part} ${styles.responsePart}`}>
        <div className={styles.bar}>
          <span className={styles.title}>Message body</span>
        </div>
        <CutCode onShowAll={showAll}>
          <CodeBlock language="json">{exampleRequestBodyOf(operation) ?? ""}</CodeBlock>
        </CutCode>
      </div>
    </section>
  );
}
