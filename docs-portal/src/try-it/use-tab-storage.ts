import { useState } from "react";

/** Returns a text and its setter, like `useState`. The text is stored until the browser tab is closed. */
export function useTabStorage(name: string, initial: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => readStorage(name) ?? initial);
  return [
    text,
    (next) => {
      setText(next);
      writeStorage(name, next);
    },
  ];
}

// Access to session storage throws in browsers that are configured to block it.
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
