import { useId } from "react";

interface RadioGroupProps<Choice extends string> {
  label: string;
  choices: Readonly<Record<Choice, string>>;
  value: Choice;
  onChange: (choice: Choice) => void;
}

/** A few choices, of which one is selected. */
export function RadioGroup<Choice extends string>({ label, choices, value, onChange }: RadioGroupProps<Choice>) {
  const name = useId();
  return (
    <fieldset className="radio-group">
      <legend>{label}</legend>
      {(Object.entries(choices) as [Choice, string][]).map(([choice, choiceLabel]) => (
        <label key={choice} className="checkbox">
          <input type="radio" name={name} checked={choice === value} onChange={() => onChange(choice)} />
          {choiceLabel}
        </label>
      ))}
    </fieldset>
  );
}
