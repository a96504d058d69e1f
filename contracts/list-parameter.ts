import { z } from "zod";

const listParameters = z.registry<{ separator: "," }>();

/** Returns the schema of a query parameter, after marking it as a list of values that are separated by commas. */
export function markAsListParameter<Schema extends z.ZodType>(schema: Schema): Schema {
  listParameters.add(schema, { separator: "," });
  return schema;
}

/** Returns whether a query parameter takes several values, separated by commas. */
export function isListParameter(schema: z.core.$ZodType | undefined): boolean {
  return schema !== undefined && listParameters.has(schema);
}
