import { useId } from "react";

interface TextFieldProps {
  label: string;
  name: string;
  maxLength: number;
  minLength?: number;
  defaultValue?: string;
}

/** A required text of a form. */
export function TextField({ label, ...input }: TextFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} required autoComplete="off" {...input} />
    </div>
  );
}
