import type { FormEvent, ReactNode } from "react";
import {
  dryRunParameterOf,
  getParameterInputKey,
  type OpenApiParameter,
  operationRequiresApiKey,
  type TryItOperation,
} from "./operation.ts";
import { RequestParameterFormField } from "./RequestParameterFormField.tsx";
import styles from "./styles.module.css";

interface Props {
  id: string;
  operation: TryItOperation;
  values: { server: string; key: string; parameters: Record<string, string>; body: string | undefined };
  /** The parameters of the link that opened the form, by `getParameterInputKey`. They are not folded. */
  linkedNames: readonly string[];
  onSubmit(event: FormEvent): void;
  onServerChange(server: string): void;
  onKeyChange(key: string): void;
  onParametersChange(parameters: Record<string, string>): void;
  onBodyChange(body: string): void;
}

/** Renders the form in which readers enter a request. The optional parameters and the server are folded. */
export function TryItForm({ id, operation, values, linkedNames, onSubmit, ...on }: Props): ReactNode {
  const { server, key, parameters, body } = values;
  const dryRun = dryRunParameterOf(operation);
  const isUnfolded = (parameter: OpenApiParameter) =>
    parameter.required || linkedNames.includes(getParameterInputKey(parameter));
  const parametersWithField = (operation.parameters ?? []).filter((parameter) => parameter !== dryRun);
  const unfolded = parametersWithField.filter(isUnfolded);
  const folded = parametersWithField.filter((parameter) => !isUnfolded(parameter));

  const renderField = (parameter: OpenApiParameter) => {
    const name = getParameterInputKey(parameter);
    return (
      <RequestParameterFormField
        key={name}
        parameter={parameter}
        value={parameters[name] ?? ""}
        onChange={(value) => on.onParametersChange({ ...parameters, [name]: value })}
      />
    );
  };

  return (
    <form id={id} className={styles.form} onSubmit={onSubmit} aria-label="Request">
      {operationRequiresApiKey(operation) && (
        <label className={styles.field}>
          <span>
            API key <small>stored in this browser tab only</small>
          </span>
          <input
            type="password"
            required
            autoComplete="off"
            value={key}
            onChange={({ target }) => on.onKeyChange(target.value)}
          />
        </label>
      )}
      {dryRun && (
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={parameters[getParameterInputKey(dryRun)] === "true"}
            onChange={({ target }) =>
              on.onParametersChange({ ...parameters, [getParameterInputKey(dryRun)]: target.checked ? "true" : "" })
            }
          />
          <span>
            Dry run (<code>dryRun=true</code>)
            <small>The API checks the till and stores nothing. Each request has new IDs.</small>
          </span>
        </label>
      )}
      {unfolded.map(renderField)}
      {body !== undefined && (
        <label className={styles.field}>
          <span>Body</span>
          <textarea rows={8} spellCheck={false} value={body} onChange={({ target }) => on.onBodyChange(target.value)} />
        </label>
      )}
      {folded.length > 0 && (
        <details className={styles.folded}>
          <summary>Optional parameters ({folded.length})</summary>
          {folded.map(renderField)}
        </details>
      )}
      <details className={styles.folded}>
        <summary>Server: {server}</summary>
        <label className={styles.field}>
          <span>Server</span>
          <input type="url" required value={server} onChange={({ target }) => on.onServerChange(target.value)} />
        </label>
      </details>
    </form>
  );
}
