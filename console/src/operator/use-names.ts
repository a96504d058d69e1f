import type { ApiSchemaTypes } from "@pragma/client";
import { useAllLocations } from "../api/use-all-locations.ts";
import { text } from "../text/text.ts";

/** Returns the name that is shown for a location. Sandboxes, which all have one name, get a part of their ID. */
export function nameLocation({ id, name, isSandbox }: Pick<ApiSchemaTypes["Location"], "id" | "name" | "isSandbox">) {
  const displayed = name ?? text.operator.unnamed(id);
  return isSandbox ? text.operator.sandboxName(displayed, id) : displayed;
}

/** Returns the names of locations by their IDs. */
export function useLocationNames({ isEnabled = true } = {}): ReadonlyMap<string, string> {
  const query = useAllLocations({ isEnabled });
  return new Map(query.data?.data.items.map((location) => [location.id, nameLocation(location)]));
}
