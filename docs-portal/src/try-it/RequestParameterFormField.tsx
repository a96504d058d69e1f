import { type ReactNode, useId } from "react";
import type { OpenApiParameter } from "./operation.ts";
import styles from "./styles.module.css";

interface Props {
  parameter: OpenApiParameter;
  value: string;
  onChange(value: string): void;
}

/** Renders the form field for a request parameter: a select list for a Boolean or an enumeration, or a text field. */
export function RequestParameterFormField({ parameter, value, onChange }: Props): ReactNode {
  const { name, in: place, required = false, schema = {} } = parameter;
  const id = useId();
  const choices = schema.type === "boolean" ? ["true", "false"] : schema.enum?.map(String);
  const example = parameter.example ?? schema.example ?? schema.default;
  return (
    <div className={styles.field}>
      <label htmlFor={id}>
        <code>{name}</code>{" "}
        <small>
          {place}
          {required && ", required"}
        </small>
      </label>
      {choices ? (
        <select id={id} required={required} value={value} onChange={({ target }) => onChange(target.value)}>
          <option value="">{required ? "Select" : "Any"}</option>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          type="text"
          required={required}
          spellCheck={false}
          placeholder={example === undefined ? undefined : String(example)}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </div>
  );
}
