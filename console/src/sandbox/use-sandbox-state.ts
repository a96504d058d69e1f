import type { ApiSchemaTypes } from "@pragma/client";
import { useApi } from "../api/use-api.ts";
import { useSession } from "../session/session-context.tsx";

const refetchMs = 2_000;

/** Returns whether the sandbox of the key is still being filled; undefined until that is known, or if it is none. */
export function useSandboxState(): ApiSchemaTypes["Sandbox"]["state"] | undefined {
  const { key } = useSession();
  const query = useApi(["sandbox"], (api) => api.GET("/v1/sandboxes/current"), {
    isEnabled: key.location?.isSandbox ?? false,
    refetchMs: ({ state }) => (state === "filling" ? refetchMs : 0),
  });
  return query.data?.data.state;
}
