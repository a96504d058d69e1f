import { useSessionStorageState } from "./use-session-storage-state.ts";

/** The server and the API key that a reader entered in this browser tab. */
export interface ApiAccess {
  server: string;
  setServer(server: string): void;
  /** The key for this server; empty if the reader has entered none. */
  key: string;
  setKey(key: string): void;
}

/** Returns the reader's server and API key, which all pages share. The first rendering has the default server and no key. */
export function useApiAccess(defaultServer: string): ApiAccess {
  const [server, setServer] = useSessionStorageState("pragma-server", defaultServer);
  // Each server has its own key, so that a key is never sent to another server.
  const [key, setKey] = useSessionStorageState(`pragma-api-key ${getOrigin(server)}`, "");
  return { server, setServer, key, setKey };
}

/** Returns the origin of a URL, or the text itself if it is not a URL. */
function getOrigin(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
