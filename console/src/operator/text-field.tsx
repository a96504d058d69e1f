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
}

/** A required text of a form. */
export function TextField({ label, hint, suggestions, ...input }: TextFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        required
        autoComplete="off"
        list={suggestions && `${id}-suggestions`}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        {...input}
      />
      {suggestions && (
        <datalist id={`${id}-suggestions`}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
