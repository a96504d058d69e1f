import MethodEndpoint from "@theme/ApiExplorer/MethodEndpoint";
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { CodeSamples, placeholderKey } from "./CodeSamples.tsx";
import { CutCode } from "./CutCode.tsx";
import { composeTryItRequest } from "./compose-request.ts";
import { readLinkedParameters } from "./linked-parameters.ts";
import {
  dryRunParameterOf,
  exampleRequestBodyOf,
  getParameterInputKey,
  responseKindOfOperation,
  type TryItOperation,
} from "./operation.ts";
import { RequestBodyExample } from "./RequestBodyExample.tsx";
import styles from "./styles.module.css";
import { TryItForm } from "./TryItForm.tsx";
import { TryItResponsePane } from "./TryItResponsePane.tsx";
import { listTillIds, replaceUuids } from "./till-ids.ts";
import { useApiAccess } from "./use-api-access.ts";
import { useRequest } from "./use-request.ts";
import { useSessionStorageState } from "./use-session-storage-state.ts";

/**
 * Renders the card beside an operation: the request above, as code or as a form, and the response below, which is an
 * example until the form has sent a request. On small screens, a button opens the card as a dialog.
 */
export function TryItPanel({ operation }: { operation: TryItOperation }): ReactNode {
  const { server, setServer, key, setKey } = useApiAccess(operation.servers?.[0]?.url ?? "");
  const [view, setView] = useSessionStorageState("pragma-request-view", "code");
  const dryRun = dryRunParameterOf(operation);
  const [parameters, setParameters] = useState<Record<string, string>>(
    dryRun ? { [getParameterInputKey(dryRun)]: "true" } : {},
  );
  const [linkedNames, setLinkedNames] = useState<readonly string[]>([]);
  const exampleBody = exampleRequestBodyOf(operation);
  const [body, setBody] = useState(exampleBody);
  // The ids in the body that the reader has not entered: those of the example, and then those that replaced them.
  const [generatedIds, setGeneratedIds] = useState(() => listTillIds(dryRun ? (exampleBody ?? "") : ""));
  const request = useRequest();
  useEffect(() => {
    const linked = readLinkedParameters(operation, window.location.search);
    if (linked === undefined) return;
    setParameters((current) => ({ ...current, ...linked }));
    setLinkedNames(Object.keys(linked));
    setView("form");
  }, [operation, setView]);
  const formId = useId();
  const [isDialogOpen, setIsDialogOpen] = useState(false);
  const [isExpanded, setIsExpanded] = useState(false);
  const showAll = isExpanded ? undefined : () => setIsExpanded(true);
  const inputs = { server, parameters, ...(body !== undefined && { body }) };
  const isForm = view === "form";
  const { response, failure, isSending } = request;

  function submit(event: FormEvent) {
    event.preventDefault();
    const sent = { ...inputs, ...(body !== undefined && { body: refreshTillIds(body) }), key: key.trim() };
    void request.send(composeTryItRequest(operation, sent));
  }

  /**
   * Replaces the ids of the till and its orders, because a second push of a till would return the first, or a conflict. A
   * till whose id the reader has entered stays as it is.
   */
  function refreshTillIds(text: string): string {
    const ids = listTillIds(text);
    if (ids[0] === undefined || !generatedIds.includes(ids[0])) return text;
    const kept = ids.filter((id) => !generatedIds.includes(id));
    const refreshed = replaceUuids(
      text,
      ids.filter((id) => !kept.includes(id)),
    );
    setGeneratedIds(listTillIds(refreshed).filter((id) => !kept.includes(id)));
    setBody(refreshed);
    return refreshed;
  }

  function openForm() {
    setView("form");
    setIsDialogOpen(true);
  }

  const card = (
    <div className={styles.panel} data-is-expanded={isExpanded || undefined}>
      <div className={styles.part}>
        <div className={styles.bar}>
          <span className={styles.title}>Request</span>
          <ViewSwitch isForm={isForm} onChange={(next) => setView(next ? "form" : "code")} />
        </div>
        {isForm ? (
          <CutCode>
            <TryItForm
              id={formId}
              operation={operation}
              values={{ server, key, parameters, body }}
              linkedNames={linkedNames}
              onSubmit={submit}
              onServerChange={setServer}
              onKeyChange={setKey}
              onParametersChange={setParameters}
              onBodyChange={setBody}
            />
          </CutCode>
        ) : (
          <CutCode onShowAll={showAll}>
            <CodeSamples
              isLazy
              request={composeTryItRequest(operation, { ...inputs, key: placeholderKey })}
              responseKind={responseKindOfOperation(operation)}
            />
            {body !== undefined && <RequestBodyExample body={body} />}
          </CutCode>
        )}
        <div className={styles.actions}>
          {/* The keys make two elements of the buttons. Otherwise, the click on the first would submit the form. */}
          {isForm ? (
            <button key="send" type="submit" form={formId} className="button button--primary" disabled={isSending}>
              Send
            </button>
          ) : (
            <button
              key="open"
              type="button"
              className={`button button--primary ${styles.tryIt}`}
              onClick={() => setView("form")}
            >
              Try it
            </button>
          )}
          {isSending && (
            <button type="button" className="button button--secondary" onClick={request.stop}>
              Stop
            </button>
          )}
          <p role="status" className={styles.announcement}>
            {describeState({ response, failure, isSending })}
          </p>
        </div>
      </div>
      <TryItResponsePane operation={operation} request={request} onShowAll={showAll} />
    </div>
  );

  return (
    <>
      {isDialogOpen ? (
        <PanelDialog onClose={() => setIsDialogOpen(false)}>{card}</PanelDialog>
      ) : (
        <section aria-label="Try it">{card}</section>
      )}
      <div className={styles.opener}>
        <MethodEndpoint method={operation.method} path={operation.path} />
        <button type="button" className="button button--primary" onClick={openForm}>
          Try it
        </button>
      </div>
    </>
  );
}

/** Renders two buttons with which the reader selects whether the card shows the request as code or as a form. */
function ViewSwitch({ isForm, onChange }: { isForm: boolean; onChange(isForm: boolean): void }): ReactNode {
  return (
    <fieldset className={styles.switch}>
      <legend className="screen-reader-only">Show the request as</legend>
      {[
        { label: "Code", value: false },
        { label: "Form", value: true },
      ].map(({ label, value }) => (
        <button key={label} type="button" aria-pressed={isForm === value} onClick={() => onChange(value)}>
          {label}
        </button>
      ))}
    </fieldset>
  );
}

/** Renders a modal dialog that covers the window. */
function PanelDialog({ onClose, children }: { onClose(): void; children: ReactNode }): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className={styles.dialog} aria-label="Try it" onClose={onClose}>
      <div className={styles.dialogBar}>
        <strong>Try it</strong>
        <button type="button" className="button button--secondary button--sm" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {children}
    </dialog>
  );
}

/** Returns the state of the request in words, which screen readers announce. */
function describeState({
  response,
  failure,
  isSending,
}: Pick<ReturnType<typeof useRequest>, "response" | "failure" | "isSending">): string {
  if (failure !== undefined) return "No response";
  if (response === undefined) return isSending ? "Waiting for a response…" : "";
  return `${response.status} ${response.statusText} in ${response.durationMs} ms`.replace("  ", " ");
}
