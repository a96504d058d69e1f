import { useCallback, useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
/** The texts that could not be stored, because the browser blocks site data. They last until the page is reloaded. */
const unstored = new Map<string, string>();

/**
 * Returns a text and its setter, as `useState` does. All components share the text, which is stored until the reader closes
 * the browser tab. The first rendering has the initial text, because the build cannot know the stored text. Another name
 * selects another stored text.
 */
export function useSessionStorageState(name: string, initial: string): [string, (text: string) => void] {
  const text = useSyncExternalStore(
    subscribe,
    () => unstored.get(name) ?? readStorage(name) ?? initial,
    () => initial,
  );
  const setText = useCallback(
    (next: string) => {
      if (writeStorage(name, next)) unstored.delete(name);
      else unstored.set(name, next);
      for (const listener of listeners) listener();
    },
    [name],
  );
  return [text, setText];
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// Access to session storage throws an error if the browser blocks site data.
function readStorage(name: string): string | null {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}

function writeStorage(name: string, text: string): boolean {
  try {
    sessionStorage.setItem(name, text);
    return true;
  } catch {
    return false;
  }
}
