import { useSyncExternalStore } from "react";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const storageName = "pragma.console.theme";
const darkPreference = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

const readTheme = (): Theme => themes.find((theme) => theme === localStorage.getItem(storageName)) ?? "system";

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  darkPreference.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    darkPreference.removeEventListener("change", listener);
  };
}

/** Sets the colors of the page to the chosen theme. `system` follows the settings of the device. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = readTheme();
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(storageName, theme);
  applyTheme();
  for (const listener of listeners) listener();
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, readTheme);

/** Returns whether the page is light or dark now. */
export const useResolvedTheme = (): "light" | "dark" =>
  useSyncExternalStore(subscribe, () => {
    const theme = readTheme();
    if (theme !== "system") return theme;
    return darkPreference.matches ? "dark" : "light";
  });
