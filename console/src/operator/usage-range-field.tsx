import type { UsageRangeName } from "../requests/usage-range.ts";
import { usageRanges } from "../text/choices.ts";
import { text } from "../text/text.ts";
import { ChoiceField } from "../ui/fields.tsx";

const choices = Object.fromEntries(usageRanges.map((name) => [name, text.requests.ranges[name]])) as Record<
  UsageRangeName,
  string
>;

interface UsageRangeFieldProps {
  value: UsageRangeName;
  onChange: (range: UsageRangeName | undefined) => void;
}

export const UsageRangeField = ({ value, onChange }: UsageRangeFieldProps) => (
  <ChoiceField
    label={text.operator.range}
    choices={choices}
    value={value}
    onChange={(chosen) => onChange(chosen === "day" ? undefined : chosen)}
  />
);
