import { readAllPages } from "../api/read-all-pages.ts";
import { useApi } from "../api/use-api.ts";
import { text } from "../text/text.ts";

/** Returns the names of locations by their IDs, also of sandboxes, whose names alone are all the same. Empty until they are read. */
export function useLocationNames(): ReadonlyMap<string, string> {
  const query = useApi(["locations", "names"], (api) =>
    readAllPages((page) => api.GET("/v1/locations", { params: { query: { ...page, includeSandboxes: "true" } } })),
  );
  return new Map(
    query.data?.data.items.map(({ id, name, isSandbox }) => {
      const displayed = name ?? text.operator.unnamed(id);
      return [id, isSandbox ? text.operator.sandboxName(displayed, id) : displayed];
    }),
  );
}
