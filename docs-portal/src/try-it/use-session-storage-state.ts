import { useEffect, useState } from "react";

/**
 * Returns a text and its setter, as `useState` does. The text is stored until the reader closes the browser tab. The
 * first rendering has the initial text, because the build cannot know the stored text. Another name selects another
 * stored text.
 */
export function useSessionStorageState(name: string, initial: string): [string, (text: string) => void] {
  const [text, setText] = useState(initial);
  useEffect(() => setText(readStorage(name) ?? initial), [name, initial]);
  return [
    text,
    (next) => {
      setText(next);
      writeStorage(name, next);
    },
  ];
}

// Access to session storage throws an error if the browser blocks site data. Then the text is not stored.
function readStorage(name: string): string | null {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}

function writeStorage(name: string, text: string): void {
  try {
    sessionStorage.setItem(name, text);
  } catch {}
}
