import CodeBlock from "@theme/CodeBlock";
import type { ReactNode } from "react";
import type { Reply } from "./send-request.ts";
import styles from "./styles.module.css";

/** Characters above which colours cost more than they help. */
const longestWithColours = 30_000;

/** What came back: the status, how long it took, the headers and the body. */
export function ReplyView({ reply }: { reply: Reply }): ReactNode {
  const { status, statusText, took, headers, body, isComplete } = reply;
  return (
    <section className={styles.reply} aria-label="Reply">
      <p>
        <strong className={status < 400 ? styles.good : styles.bad}>
          {status} {statusText}
        </strong>{" "}
        <small>
          in {took} ms{!isComplete && ", still coming"}
        </small>
      </p>
      <details>
        <summary>Headers</summary>
        <CodeBlock language="http">{headers.map((header) => header.join(": ")).join("\n")}</CodeBlock>
      </details>
      {body !== "" && <CodeBlock language={body.length < longestWithColours ? "json" : "text"}>{body}</CodeBlock>}
    </section>
  );
}
