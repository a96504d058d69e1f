import { useId } from "react";

interface TextFieldProps {
  label: string;
  name: string;
  maxLength: number;
  minLength?: number;
  defaultValue?: string;
  hint?: string;
  /** Texts that the browser suggests. Others can be entered, too. */
  suggestions?: readonly string[];
  /** Why the API rejected the text. */
  error?: string | undefined;
}

/** A required text of a form. */
export function TextField({ label, hint, suggestions, error, ...input }: TextFieldProps) {
  const id = useId();
  const descriptions = [error !== undefined && `${id}-error`, hint !== undefined && `${id}-hint`].filter(Boolean);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        required
        autoComplete="off"
        list={suggestions && `${id}-suggestions`}
        aria-invalid={error !== undefined}
        aria-describedby={descriptions.join(" ") || undefined}
        {...input}
      />
      {suggestions && (
        <datalist id={`${id}-suggestions`}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
      {error !== undefined && (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
