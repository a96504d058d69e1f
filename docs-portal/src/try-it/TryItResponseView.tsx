import CodeBlock from "@theme/CodeBlock";
import type { ReactNode } from "react";
import type { TryItResponse } from "./send-request.ts";
import styles from "./styles.module.css";

/** Maximum length of a body with syntax highlighting, in characters. Highlighting a longer body would be slow. */
const maxHighlightedCharacters = 30_000;

/** Renders the status, the response time, the headers and the body of a response. */
export function TryItResponseView({ response }: { response: TryItResponse }): ReactNode {
  const { status, statusText, durationMs, headers, body, isComplete } = response;
  return (
    <section className={styles.response} aria-label="Response">
      <p>
        <strong className={status < 400 ? styles.good : styles.bad}>
          {status} {statusText}
        </strong>{" "}
        <small>
          in {durationMs} ms{!isComplete && ", still receiving"}
        </small>
      </p>
      <details>
        <summary>Headers</summary>
        <CodeBlock language="http">{headers.map((header) => header.join(": ")).join("\n")}</CodeBlock>
      </details>
      {body !== "" && <CodeBlock language={body.length < maxHighlightedCharacters ? "json" : "text"}>{body}</CodeBlock>}
    </section>
  );
}
