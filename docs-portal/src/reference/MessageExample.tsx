import CodeBlock from "@theme/CodeBlock";
import type { ReactNode } from "react";
import styles from "./messages.module.css";

interface Props {
  event: string;
  example: { headers: Record<string, string>; payload: unknown };
}

/** Renders the example of a webhook message. The headers and the body are folded, because bodies of orders are long. */
export function MessageExample({ event, example: { headers, payload } }: Props): ReactNode {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <details className={styles.example}>
      <summary>
        Example of <code>{event}</code>
      </summary>
      <CodeBlock language="http" title="Headers">
        {lines.join("\n")}
      </CodeBlock>
      <CodeBlock language="json" title="Body">
        {JSON.stringify(payload, null, 2)}
      </CodeBlock>
    </details>
  );
}
