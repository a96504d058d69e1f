import { useState } from "react";

/** A text that is remembered until the browser's tab is closed. */
export function useTabStorage(name: string, initial: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => read(name) ?? initial);
  return [
    text,
    (next) => {
      setText(next);
      write(name, next);
    },
  ];
}

// Browsers may refuse storage altogether.
function read(name: string): string | null {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}

function write(name: string, text: string): void {
  try {
    sessionStorage.setItem(name, text);
  } catch {}
}
