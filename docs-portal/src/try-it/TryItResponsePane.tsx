import CodeBlock from "@theme/CodeBlock";
import { type ReactNode, useState } from "react";
import type { TryItOperation } from "./operation.ts";
import type { TryItResponse } from "./send-request.ts";
import styles from "./styles.module.css";
import type { RequestState } from "./use-request.ts";

/** Maximum length of a body with syntax highlighting, in characters. Highlighting a longer body would be slow. */
const maxHighlightedCharacters = 30_000;

interface Props {
  operation: TryItOperation;
  request: RequestState;
}

/** Renders the response to the request of the form. Before the first request, renders example responses. */
export function TryItResponsePane({ operation, request }: Props): ReactNode {
  const { response, failure, isSending, clear } = request;
  const isExample = response === undefined && failure === undefined && !isSending;
  return (
    <section className={`${styles.part} ${styles.responsePart}`} aria-label="Response">
      {isExample ? (
        <ExampleResponses operation={operation} />
      ) : (
        <>
          <div className={styles.bar}>
            <span className={styles.title}>Response</span>
            {response && <ResponseStatus response={response} />}
            {!isSending && (
              <button type="button" className={styles.link} onClick={clear}>
                Show the example
              </button>
            )}
          </div>
          <div className={styles.scroll}>
            {failure !== undefined && <p className={styles.failure}>{failure}</p>}
            {response === undefined && isSending && <p className={styles.waiting}>Waiting for a response…</p>}
            {response && <ResponseContent response={response} />}
          </div>
        </>
      )}
    </section>
  );
}

function ResponseStatus({ response: { status, statusText, isComplete } }: { response: TryItResponse }): ReactNode {
  return (
    <span>
      <strong className={status < 400 ? styles.good : styles.bad}>
        {status} {statusText}
      </strong>
      {!isComplete && " still receiving"}
    </span>
  );
}

function ResponseContent({ response: { headers, body } }: { response: TryItResponse }): ReactNode {
  return (
    <>
      <details className={styles.folded}>
        <summary>Headers ({headers.length})</summary>
        <CodeBlock language="http">{headers.map((header) => header.join(": ")).join("\n")}</CodeBlock>
      </details>
      {body === "" ? <p className={styles.empty}>No body</p> : <BodyCode body={body} />}
    </>
  );
}

/** Renders the example of each successful response, with a button for each status. */
function ExampleResponses({ operation }: { operation: TryItOperation }): ReactNode {
  const examples = Object.entries(operation.responses ?? {}).filter(([status]) => status.startsWith("2"));
  const [selected, setSelected] = useState(0);
  const media = Object.values(examples[selected]?.[1].content ?? {})[0];
  const { example } = media ?? {};
  return (
    <>
      <div className={styles.bar}>
        <span className={styles.title}>Example response</span>
        {examples.length > 1 ? (
          <fieldset className={styles.switch}>
            <legend className="screen-reader-only">Show the response with status</legend>
            {examples.map(([status], index) => (
              <button key={status} type="button" aria-pressed={index === selected} onClick={() => setSelected(index)}>
                {status}
              </button>
            ))}
          </fieldset>
        ) : (
          <span className={styles.good}>{examples[0]?.[0]}</span>
        )}
      </div>
      <div className={styles.scroll}>
        {example === undefined ? (
          <p className={styles.empty}>No body</p>
        ) : (
          <BodyCode body={typeof example === "string" ? example : JSON.stringify(example, null, 2)} />
        )}
      </div>
    </>
  );
}

function BodyCode({ body }: { body: string }): ReactNode {
  const isJson = /^[[{]/.test(body) && body.length < maxHighlightedCharacters;
  return <CodeBlock language={isJson ? "json" : "text"}>{body}</CodeBlock>;
}
