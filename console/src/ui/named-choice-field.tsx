import { useEffect, useId, useState } from "react";
import { text } from "../text/text.ts";

/** The number of items that a list offers. More are found by their names. */
export const namedChoiceSize = 20;

/** The API finds names by at least this number of characters. */
const minNameLength = 2;
const typingPauseMs = 300;

interface NamedChoiceFieldProps {
  label: string;
  /** The label of "no choice". */
  anyLabel: string;
  choices: readonly { id: string; name: string }[];
  /** The number of all items that match the name, which can be more than `choices`. */
  totalCount: number;
  value: string | undefined;
  onChange: (id: string | undefined) => void;
  /** Called with a part of the name that the reader looks for; undefined for all names. */
  onFind: (name: string | undefined) => void;
  hint?: string | undefined;
}

/** A list of things by name. If there are many, a field finds them by a part of their names. */
export function NamedChoiceField(props: NamedChoiceFieldProps) {
  const { label, anyLabel, choices, totalCount, value, onChange, onFind, hint } = props;
  const id = useId();
  const [name, setName] = useState("");
  const wanted = name.trim();
  const note = choices.length === 0 && wanted !== "" ? text.choice.noMatch : hint;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a changed name starts a search.
  useEffect(() => {
    const timer = setTimeout(() => onFind(wanted.length < minNameLength ? undefined : wanted), typingPauseMs);
    return () => clearTimeout(timer);
  }, [wanted]);
  return (
    <>
      {(wanted !== "" || totalCount > choices.length) && (
        <div className="field">
          <label htmlFor={`${id}-name`}>{text.choice.find(label)}</label>
          <input
            id={`${id}-name`}
            type="search"
            value={name}
            maxLength={100}
            onChange={({ target }) => setName(target.value)}
          />
        </div>
      )}
      <div className="field">
        <label htmlFor={id}>{label}</label>
        <select
          id={id}
          value={value ?? ""}
          onChange={({ target }) => onChange(target.value || undefined)}
          aria-describedby={note === undefined ? undefined : `${id}-hint`}
        >
          <option value="">{anyLabel}</option>
          {choices.map((choice) => (
            <option key={choice.id} value={choice.id}>
              {choice.name}
            </option>
          ))}
        </select>
        {note !== undefined && (
          <p className="hint" id={`${id}-hint`}>
            {note}
          </p>
        )}
      </div>
    </>
  );
}
