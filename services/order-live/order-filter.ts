import { z } from "zod";
import type { OrderFilterFields } from "./order-state.ts";

const booleanInQuery = (description: string) =>
  z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .optional()
    .meta({ description, type: "boolean" });

/** What lists and streams can be filtered by; each is left out for any. */
export const orderFilterQuery = {
  isPaid: booleanInQuery("Only orders that are paid, or only those that are not"),
  isTransferred: booleanInQuery("Only orders that are transferred, or only those that are not"),
  isCanceled: booleanInQuery("Only orders that are canceled, or only those that are not"),
  tillId: z.guid().toLowerCase().optional().meta({ description: "Only the orders of this till" }),
};

export type OrderFilter = { [Name in keyof OrderFilterFields]?: OrderFilterFields[Name] | undefined };

/** The filter among what was asked. */
export function pickOrderFilter({ tillId, isPaid, isTransferred, isCanceled }: OrderFilter): OrderFilter {
  return { tillId, isPaid, isTransferred, isCanceled };
}

/** Whether a filter lets an order through that is listed as this; one that is not listed never passes. */
export function matchesOrderFilter(filter: OrderFilter, fields: OrderFilterFields | null): boolean {
  const names = Object.keys(filter) as (keyof OrderFilterFields)[];
  return fields !== null && names.every((name) => filter[name] === undefined || filter[name] === fields[name]);
}
