import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { CodeSamples } from "./CodeSamples.tsx";
import { composeTryItRequest } from "./compose-request.ts";
import {
  exampleRequestBodyOf,
  getParameterInputKey,
  operationRequiresApiKey,
  responseKindOfOperation,
  type TryItOperation,
} from "./operation.ts";
import { RequestParameterFormField } from "./RequestParameterFormField.tsx";
import { sendTryItRequest, type TryItResponse } from "./send-request.ts";
import styles from "./styles.module.css";
import { TryItResponseView } from "./TryItResponseView.tsx";
import { useSessionStorageState } from "./use-session-storage-state.ts";

const placeholderKey = "<your key>";

/** Renders a form with which readers send requests to an operation, and code samples for the same request. */
export function TryItForm({ operation }: { operation: TryItOperation }): ReactNode {
  const [server, setServer] = useSessionStorageState("pragma-server", operation.servers?.[0]?.url ?? "");
  const [key, setKey] = useSessionStorageState("pragma-api-key", "");
  const [parameters, setParameters] = useState<Record<string, string>>({});
  const [body, setBody] = useState(() => exampleRequestBodyOf(operation));
  const { response, failure, isSending, send, stop } = useRequest();
  const inputs = { server, parameters, ...(body !== undefined && { body }) };

  function submit(event: FormEvent) {
    event.preventDefault();
    void send(composeTryItRequest(operation, { ...inputs, key: key.trim() }));
  }

  return (
    <div className={styles.panel}>
      <CodeSamples
        request={composeTryItRequest(operation, { ...inputs, key: placeholderKey })}
        responseKind={responseKindOfOperation(operation)}
      />
      <form className={styles.form} onSubmit={submit} aria-label="Try it">
        <h2 className={styles.heading}>Try it</h2>
        <label className={styles.field}>
          <span>Server</span>
          <input type="url" required value={server} onChange={({ target }) => setServer(target.value)} />
        </label>
        {operationRequiresApiKey(operation) && (
          <label className={styles.field}>
            <span>
              API key <small>stored in this tab only</small>
            </span>
            <input
              type="password"
              required
              autoComplete="off"
              value={key}
              onChange={({ target }) => setKey(target.value)}
            />
          </label>
        )}
        {operation.parameters?.map((parameter) => (
          <RequestParameterFormField
            key={getParameterInputKey(parameter)}
            parameter={parameter}
            value={parameters[getParameterInputKey(parameter)] ?? ""}
            onChange={(value) => setParameters({ ...parameters, [getParameterInputKey(parameter)]: value })}
          />
        ))}
        {body !== undefined && (
          <label className={styles.field}>
            <span>Body</span>
            <textarea rows={8} spellCheck={false} value={body} onChange={({ target }) => setBody(target.value)} />
          </label>
        )}
        <div className={styles.actions}>
          <button type="submit" className="button button--primary" disabled={isSending}>
            Send
          </button>
          {isSending && (
            <button type="button" className="button button--secondary" onClick={stop}>
              Stop
            </button>
          )}
        </div>
      </form>
      <div aria-live="polite">
        {failure && <p className={styles.failure}>{failure}</p>}
        {response && <TryItResponseView response={response} />}
      </div>
    </div>
  );
}

/** Returns the state of a request, and functions that send and abort it. Leaving the page also aborts the request. */
function useRequest() {
  const [response, setResponse] = useState<TryItResponse>();
  const [failure, setFailure] = useState<string>();
  const [isSending, setIsSending] = useState(false);
  const abortController = useRef<AbortController>(undefined);
  useEffect(() => () => abortController.current?.abort(), []);

  async function send(request: Parameters<typeof sendTryItRequest>[0]) {
    const controller = new AbortController();
    const { signal } = controller;
    abortController.current = controller;
    setResponse(undefined);
    setFailure(undefined);
    setIsSending(true);
    try {
      await sendTryItRequest(request, { signal, onUpdate: setResponse });
    } catch (error) {
      if (!signal.aborted)
        setFailure(`No response from ${new URL(request.url).origin}. Is the API running there? (${String(error)})`);
    } finally {
      setIsSending(false);
    }
  }

  return { response, failure, isSending, send, stop: () => abortController.current?.abort() };
}
