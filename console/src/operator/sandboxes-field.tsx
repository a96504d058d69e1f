import { text } from "../text/text.ts";

interface SandboxesFieldProps {
  isIncluded: boolean;
  /** Called with the value of the view's parameter `sandboxes`. */
  onChange: (sandboxes: "included" | undefined) => void;
}

/** A switch that includes sandboxes, and what a list or a count contains without them. */
export const SandboxesField = ({ isIncluded, onChange }: SandboxesFieldProps) => (
  <>
    <label className="checkbox">
      <input
        type="checkbox"
        checked={isIncluded}
        onChange={({ target }) => onChange(target.checked ? "included" : undefined)}
      />
      {text.operator.includeSandboxes}
    </label>
    {!isIncluded && <p className="hint">{text.operator.withoutSandboxes}</p>}
  </>
);
