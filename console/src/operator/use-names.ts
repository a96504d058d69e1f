import { useAllLocations } from "../api/use-all-locations.ts";
import { text } from "../text/text.ts";

/** Returns the names of locations by their IDs. Sandboxes, which all have one name, get a part of their ID. */
export function useLocationNames(): ReadonlyMap<string, string> {
  const query = useAllLocations();
  return new Map(
    query.data?.data.items.map(({ id, name, isSandbox }) => {
      const displayed = name ?? text.operator.unnamed(id);
      return [id, isSandbox ? text.operator.sandboxName(displayed, id) : displayed];
    }),
  );
}
