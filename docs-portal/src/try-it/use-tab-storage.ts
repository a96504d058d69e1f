import { useState } from "react";

/** Returns a text that is stored until the browser tab is closed, and its setter. */
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

// Browsers can be configured to block session storage.
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
