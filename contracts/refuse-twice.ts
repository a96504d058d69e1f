import { z } from "zod";

/**
 * A check for a list whose items have ids: reports each item whose id was in the list before. It runs even when items
 * have other faults, so that all are reported at once.
 */
export function refuseTwice<Field extends string>(what: string, idField: Field) {
  const check = z.superRefine<{ [field in Field]?: unknown }[]>((items, context) => {
    const firstIndexById = new Map<string, number>();
    for (const [index, item] of items.entries()) {
      const id = item?.[idField];
      if (typeof id !== "string") continue;
      const firstIndex = firstIndexById.get(id);
      if (firstIndex === undefined) firstIndexById.set(id, index);
      else
        context.addIssue({
          code: "custom",
          path: [index, idField],
          params: { code: "duplicate" },
          message: `The same ${what} is already at index ${firstIndex}`,
        });
    }
  });
  check._zod.def.when = (payload) => Array.isArray(payload.value);
  return check;
}
