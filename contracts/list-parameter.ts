import { z } from "zod";
import { addIssue, boundedString } from "./fields.ts";

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

export const maxListCharacters = 1_000;

export const splitList = (text: string) => text.split(",").map((item) => item.trim());

/** Returns an item of a list for a message, cut if it is long. */
export const quoteListItem = (item: string) => JSON.stringify(item.slice(0, 60));

/** Returns the schema of a list of different names, separated by commas. */
export function nameListParameter<Name extends string>(kind: string, names: readonly Name[], max: number) {
  return boundedString(maxListCharacters).transform((text, context): Name[] => {
    const listed = text.trim() === "" ? [] : splitList(text);
    const found = new Set<Name>();
    for (const item of listed) {
      const name = names.find((candidate) => candidate === item);
      if (name === undefined)
        addIssue(context, "invalid_value", `Must be some of the ${kind}s: ${names.join(", ")}`, {
          received: quoteListItem(item),
        });
      else if (found.has(name)) addIssue(context, "duplicate", `Contains ${name} twice. Remove one of them`);
      else found.add(name);
    }
    if (listed.length > max)
      addIssue(context, "too_big", `Must have at most ${max} ${kind}s`, { received: listed.length });
    return [...found];
  });
}
