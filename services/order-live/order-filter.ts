import { z } from "zod";
import type { LiveOrderFilterFields } from "./order-state.ts";

const booleanQueryParam = (description: string) =>
  z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .optional()
    .meta({ description, type: "boolean" });

/** The query parameters that filter lists and streams. An omitted parameter matches all orders. */
export const liveOrderFilterQueryShape = {
  isPaid: booleanQueryParam("Returns only paid orders (`true`) or only unpaid orders (`false`)."),
  isTransferred: booleanQueryParam(
    "Returns only transferred orders (`true`) or only orders that are not transferred (`false`).",
  ),
  isCanceled: booleanQueryParam(
    "Returns only canceled orders (`true`) or only orders that are not canceled (`false`).",
  ),
  tillId: z.guid().toLowerCase().optional().meta({ description: "Returns only the orders of the till with this ID." }),
};

export type LiveOrderFilter = { [Name in keyof LiveOrderFilterFields]?: LiveOrderFilterFields[Name] | undefined };

export const pickLiveOrderQueryFilters = ({ tillId, isPaid, isTransferred, isCanceled }: LiveOrderFilter) =>
  ({ tillId, isPaid, isTransferred, isCanceled }) satisfies LiveOrderFilter;

/** Returns whether an order with these filter fields matches the filter. An unlisted order (null) never matches. */
export function matchesLiveOrderFilter(filter: LiveOrderFilter, fields: LiveOrderFilterFields | null): boolean {
  const names = Object.keys(filter) as (keyof LiveOrderFilterFields)[];
  return fields !== null && names.every((name) => filter[name] === undefined || filter[name] === fields[name]);
}
