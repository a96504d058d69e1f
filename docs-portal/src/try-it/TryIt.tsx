import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { CodeSamples } from "./CodeSamples.tsx";
import { composeRequest } from "./compose-request.ts";
import { exampleBodyOf, needsKey, type Operation, parameterId, replyKindOf } from "./operation.ts";
import { ParameterField } from "./ParameterField.tsx";
import { ReplyView } from "./ReplyView.tsx";
import { type Reply, sendRequest } from "./send-request.ts";
import styles from "./styles.module.css";
import { useTabStorage } from "./use-tab-storage.ts";

const shownKey = "<your key>";

/** A form that sends the operation's request to a server, and the request in several languages as it is typed in. */
export function TryIt({ operation }: { operation: Operation }): ReactNode {
  const [server, setServer] = useTabStorage("pragma-server", operation.servers?.[0]?.url ?? "");
  const [key, setKey] = useTabStorage("pragma-api-key", "");
  const [parameters, setParameters] = useState<Record<string, string>>({});
  const [body, setBody] = useState(() => exampleBodyOf(operation));
  const { reply, failure, isSending, send, stop } = useSending();
  const inputs = { server, parameters, ...(body !== undefined && { body }) };

  function submit(event: FormEvent) {
    event.preventDefault();
    void send(composeRequest(operation, { ...inputs, key: key.trim() }));
  }

  return (
    <div className={styles.panel}>
      <CodeSamples request={composeRequest(operation, { ...inputs, key: shownKey })} replies={replyKindOf(operation)} />
      <form className={styles.form} onSubmit={submit} aria-label="Try it">
        <h2 className={styles.heading}>Try it</h2>
        <label className={styles.field}>
          <span>Server</span>
          <input type="url" required value={server} onChange={({ target }) => setServer(target.value)} />
        </label>
        {needsKey(operation) && (
          <label className={styles.field}>
            <span>
              API key <small>kept in this tab only</small>
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
          <ParameterField
            key={parameterId(parameter)}
            parameter={parameter}
            value={parameters[parameterId(parameter)] ?? ""}
            onChange={(value) => setParameters({ ...parameters, [parameterId(parameter)]: value })}
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
        {reply && <ReplyView reply={reply} />}
      </div>
    </div>
  );
}

/** The state of what is sent: at most one request at a time, none after the page is left. */
function useSending() {
  const [reply, setReply] = useState<Reply>();
  const [failure, setFailure] = useState<string>();
  const [isSending, setIsSending] = useState(false);
  const stopper = useRef<AbortController>(undefined);
  useEffect(() => () => stopper.current?.abort(), []);

  async function send(request: Parameters<typeof sendRequest>[0]) {
    const controller = new AbortController();
    const { signal } = controller;
    stopper.current = controller;
    setReply(undefined);
    setFailure(undefined);
    setIsSending(true);
    try {
      await sendRequest(request, { signal, show: setReply });
    } catch (error) {
      if (!signal.aborted)
        setFailure(`No answer from ${new URL(request.url).origin}: is the API running there? (${String(error)})`);
    } finally {
      setIsSending(false);
    }
  }

  return { reply, failure, isSending, send, stop: () => stopper.current?.abort() };
}
