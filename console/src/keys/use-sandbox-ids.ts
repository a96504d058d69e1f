import { readAllPages } from "../api/read-all-pages.ts";
import { useApi } from "../api/use-api.ts";
import { hasAnyScope } from "../session/session.ts";
import { useSession } from "../session/session-context.tsx";

/** Returns the IDs of the sandboxes. Empty until they are read, and for a key that cannot list all locations. */
export function useSandboxIds(): ReadonlySet<string> {
  const { key } = useSession();
  const query = useApi(
    ["locations", "names"],
    (api) =>
      readAllPages((page) => api.GET("/v1/locations", { params: { query: { ...page, includeSandboxes: "true" } } })),
    { isEnabled: hasAnyScope(key, "locations:any") && hasAnyScope(key, "locations:write") },
  );
  return new Set(query.data?.data.items.filter(({ isSandbox }) => isSandbox).map(({ id }) => id));
}
