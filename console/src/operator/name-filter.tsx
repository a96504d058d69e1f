import { useEffect, useId, useState } from "react";
import { text } from "../text/text.ts";

/** The API finds names by at least this number of characters. */
const minNameLength = 2;
const typingPauseMs = 300;

interface NameFilterProps {
  value: string | undefined;
  onChange: (name: string | undefined) => void;
}

/** A field that filters a list by a part of the names, shortly after the reader has typed it. */
export function NameFilter({ value = "", onChange }: NameFilterProps) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  const wanted = typed.trim();
  const isTooShort = wanted !== "" && wanted.length < minNameLength;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed starts a search.
  useEffect(() => {
    if (isTooShort || wanted === value) return;
    const timer = setTimeout(() => onChange(wanted || undefined), typingPauseMs);
    return () => clearTimeout(timer);
  }, [wanted]);
  return (
    <div className="field field-search">
      <label htmlFor={id}>{text.operator.find}</label>
      <input
        id={id}
        type="search"
        value={typed}
        maxLength={200}
        aria-describedby={isTooShort ? `${id}-hint` : undefined}
        onChange={({ target }) => setTyped(target.value)}
      />
      {isTooShort && (
        <p className="hint" id={`${id}-hint`}>
          {text.operator.findHint}
        </p>
      )}
    </div>
  );
}
