import { useAllLocations } from "../api/use-all-locations.ts";
import { hasAnyScope } from "../session/session.ts";
import { useSession } from "../session/session-context.tsx";

/** Returns the IDs of the sandboxes. Empty until they are read, and for a key that cannot list all locations. */
export function useSandboxIds(): ReadonlySet<string> {
  const { key } = useSession();
  const query = useAllLocations({
    isEnabled: hasAnyScope(key, "locations:any") && hasAnyScope(key, "locations:write"),
  });
  return new Set(query.data?.data.items.filter(({ isSandbox }) => isSandbox).map(({ id }) => id));
}
