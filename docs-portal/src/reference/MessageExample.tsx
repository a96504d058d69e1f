import CodeBlock from "@theme/CodeBlock";
import type { ReactNode } from "react";
import styles from "./messages.module.css";

/** A body with more lines is folded, because the fields of the next message would be too far away. */
const maxUnfoldedLines = 40;

interface Props {
  event: string;
  example: { headers: Record<string, string>; payload: unknown };
}

/** Renders the headers and the body of the example of a webhook message. A long example is folded. */
export function MessageExample({ event, example: { headers, payload } }: Props): ReactNode {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const body = JSON.stringify(payload, null, 2);
  return (
    <details className={styles.example} open={body.split("\n").length <= maxUnfoldedLines}>
      <summary>
        Example of <code>{event}</code>
      </summary>
      <CodeBlock language="http" title="Headers">
        {lines.join("\n")}
      </CodeBlock>
      <CodeBlock language="json" title="Body">
        {body}
      </CodeBlock>
    </details>
  );
}
