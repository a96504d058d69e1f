import { useCallback, useMemo } from "react";
import { useSessionStorageState } from "../try-it/use-session-storage-state.ts";
import type { CreatedSandbox } from "./sandbox-requests.ts";

/** A sandbox as the browser tab keeps it. */
export interface SandboxOfTab extends CreatedSandbox {
  /** The URL of the API that contains the sandbox. */
  server: string;
  /** ISO 8601. */
  createdAt: string;
}

/** Returns the sandbox that the reader created in this browser tab, and its setter; undefined without one, or if it has expired. */
export function useSandbox(): [SandboxOfTab | undefined, (sandbox: SandboxOfTab | undefined) => void] {
  const [stored, setStored] = useSessionStorageState("pragma-sandbox", "");
  const sandbox = useMemo(() => {
    const parsed: SandboxOfTab | undefined = stored === "" ? undefined : JSON.parse(stored);
    return parsed && Date.parse(parsed.expiresAt) > Date.now() ? parsed : undefined;
  }, [stored]);
  const setSandbox = useCallback(
    (next: SandboxOfTab | undefined) => setStored(next === undefined ? "" : JSON.stringify(next)),
    [setStored],
  );
  return [sandbox, setSandbox];
}
