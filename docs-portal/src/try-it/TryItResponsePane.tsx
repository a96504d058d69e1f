import CodeBlock from "@theme/CodeBlock";
import { type CSSProperties, type ReactNode, useState } from "react";
import { CutCode } from "./CutCode.tsx";
import { dryRunParameterOf, type TryItOperation } from "./operation.ts";
import { PushedTillLinks } from "./PushedTillLinks.tsx";
import { readPushedTill } from "./pushed-till.ts";
import type { TryItResponse } from "./send-request.ts";
import styles from "./styles.module.css";
import type { RequestState } from "./use-request.ts";

/** Maximum length of a body with syntax highlighting, in characters. Highlighting a longer body would be slow. */
const maxHighlightedCharacters = 30_000;

interface Props {
  operation: TryItOperation;
  request: RequestState;
  onShowAll: (() => void) | undefined;
}

/** Renders the response to the request of the form. Before the first request, renders example responses. */
export function TryItResponsePane({ operation, request, onShowAll }: Props): ReactNode {
  const { response, failure, isSending, clear } = request;
  const isExample = response === undefined && failure === undefined && !isSending;
  const shownBody = isExample ? exampleBodyOf(successfulResponsesOf(operation)[0]) : response?.body;
  const pushedTill = response && dryRunParameterOf(operation) && readPushedTill(response);
  const lines = (shownBody ?? "").split("\n").length;
  return (
    <section
      className={`${styles.part} ${styles.responsePart}`}
      style={{ "--lines": lines } as CSSProperties}
      aria-label="Response"
    >
      {isExample ? (
        <ExampleResponses operation={operation} onShowAll={onShowAll} />
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
          {pushedTill && <PushedTillLinks till={pushedTill} />}
          <CutCode onShowAll={onShowAll}>
            {failure !== undefined && <p className={styles.failure}>{failure}</p>}
            {response === undefined && isSending && <p className={styles.waiting}>Waiting for a response…</p>}
            {response && <ResponseContent response={response} />}
          </CutCode>
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
      <details className={`${styles.folded} ${styles.responseHeaders}`}>
        <summary>Headers ({headers.length})</summary>
        <CodeBlock language="http">{headers.map((header) => header.join(": ")).join("\n")}</CodeBlock>
      </details>
      {body === "" ? <p className={styles.empty}>No body</p> : <BodyCode body={body} />}
    </>
  );
}

/** Renders the example of each successful response, with a button for each status. */
function ExampleResponses({ operation, onShowAll }: Omit<Props, "request">): ReactNode {
  const examples = successfulResponsesOf(operation);
  const [selected, setSelected] = useState(0);
  const body = exampleBodyOf(examples[selected]);
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
          <span className="response-status">{examples[0]?.[0]}</span>
        )}
      </div>
      <CutCode key={selected} onShowAll={onShowAll}>
        {body === undefined ? <p className={styles.empty}>No body</p> : <BodyCode body={body} />}
      </CutCode>
    </>
  );
}

type ResponseByStatus = [status: string, response: NonNullable<TryItOperation["responses"]>[string]];

function successfulResponsesOf({ responses = {} }: TryItOperation): ResponseByStatus[] {
  return Object.entries(responses).filter(([status]) => status.startsWith("2"));
}

/** Returns the example body of a response, or undefined if the response has no body. */
function exampleBodyOf(response: ResponseByStatus | undefined): string | undefined {
  const { example } = Object.values(response?.[1].content ?? {})[0] ?? {};
  return example === undefined || typeof example === "string" ? example : JSON.stringify(example, null, 2);
}

function BodyCode({ body }: { body: string }): ReactNode {
  const isJson = /^[[{]/.test(body) && body.length < maxHighlightedCharacters;
  return <CodeBlock language={isJson ? "json" : "text"}>{body}</CodeBlock>;
}
