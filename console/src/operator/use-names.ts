import { useApi } from "../api/use-api.ts";
import { text } from "../text/text.ts";
import { readAllPages } from "./read-all.ts";

/** Returns the names of locations by their IDs, also of sandboxes. Empty until they are read. */
export function useLocationNames(): ReadonlyMap<string, string> {
  const query = useApi(["locations", "names"], (api) =>
    readAllPages((page) => api.GET("/v1/locations", { params: { query: { ...page, includeSandboxes: "true" } } })),
  );
  return new Map(query.data?.data.items.map(({ id, name }) => [id, name ?? text.operator.unnamed(id)]));
}
