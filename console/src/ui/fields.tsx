import { type ReactNode, useId } from "react";
import { text } from "../text/text.ts";

interface ChoiceFieldProps<Choice extends string> {
  label: string;
  choices: Readonly<Record<Choice, string>>;
  value: Choice | undefined;
  onChange: (choice: Choice | undefined) => void;
  /** The label of "no choice". Absent if one must be chosen. */
  anyLabel?: string;
}

/** A list from which one value is chosen. The field is the browser's own, which suits phones and needs no code. */
export function ChoiceField<Choice extends string>({
  label,
  choices,
  value,
  onChange,
  anyLabel,
}: ChoiceFieldProps<Choice>) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={value ?? ""}
        onChange={({ target }) => onChange(target.value === "" ? undefined : (target.value as Choice))}
      >
        {anyLabel !== undefined && <option value="">{anyLabel}</option>}
        {(Object.entries(choices) as [Choice, string][]).map(([choice, name]) => (
          <option key={choice} value={choice}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

interface DayFieldProps {
  label: string;
  value: string | undefined;
  onChange: (day: string | undefined) => void;
}

/** A date as YYYY-MM-DD, in the browser's own field too. */
function DayField({ label, value = "", onChange }: DayFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} type="date" value={value} onChange={({ target }) => onChange(target.value || undefined)} />
    </div>
  );
}

/** Days as YYYY-MM-DD, both included. */
export interface DayRange {
  since?: string | undefined;
  until?: string | undefined;
}

interface DayRangeFieldProps extends DayRange {
  onChange: (range: DayRange) => void;
}

export const DayRangeField = ({ since, until, onChange }: DayRangeFieldProps) => (
  <>
    <DayField label={text.filters.since} value={since} onChange={(day) => onChange({ since: day })} />
    <DayField label={text.filters.until} value={until} onChange={(day) => onChange({ until: day })} />
  </>
);

/** The filters of a list. */
export const Filters = ({ children }: { children: ReactNode }) => (
  <search className="filters" aria-label={text.filters.label}>
    {children}
  </search>
);
