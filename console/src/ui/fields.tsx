import { type ReactNode, useId } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import { Label } from "react-aria-components/Label";
import { ListBox, ListBoxItem } from "react-aria-components/ListBox";
import { Popover } from "react-aria-components/Popover";
import { Select, SelectValue } from "react-aria-components/Select";
import { text } from "../text/text.ts";
import { ChevronIcon } from "./icons.tsx";

interface ChoiceFieldProps<Choice extends string> {
  label: string;
  choices: Readonly<Record<Choice, string>>;
  value: Choice | undefined;
  onChange: (choice: Choice | undefined) => void;
  /** The label of "no choice". Absent if one must be chosen. */
  anyLabel?: string;
}

const anyKey = "";

/** A list from which one value is chosen. */
export function ChoiceField<Choice extends string>({
  label,
  choices,
  value,
  onChange,
  anyLabel,
}: ChoiceFieldProps<Choice>) {
  const options = [
    ...(anyLabel === undefined ? [] : [{ id: anyKey, name: anyLabel }]),
    ...(Object.entries(choices) as [Choice, string][]).map(([id, name]) => ({ id, name })),
  ];
  return (
    <Select
      className="field"
      value={value ?? anyKey}
      onChange={(chosen) => onChange(chosen === anyKey ? undefined : (chosen as Choice))}
    >
      <Label>{label}</Label>
      <AriaButton className="select-button">
        <SelectValue />
        <ChevronIcon />
      </AriaButton>
      <Popover className="popover">
        <ListBox items={options}>{({ id, name }) => <ListBoxItem id={id}>{name}</ListBoxItem>}</ListBox>
      </Popover>
    </Select>
  );
}

interface DayFieldProps {
  label: string;
  value: string | undefined;
  onChange: (day: string | undefined) => void;
}

/** A date as YYYY-MM-DD. The field is the browser's own, which suits phones and needs no code. */
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
