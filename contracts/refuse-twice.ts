import { z } from "zod";

/**
 * A check for a list whose items have ids: reports each item whose id was in the list before. It runs even when items
 * have other faults, so that all are reported at once.
 */
export function refuseTwice<Item>(what: string, idOf: (item: Item | undefined) => unknown) {
  const check = z.superRefine<Item[]>((items, context) => {
    const firstIndexById = new Map<string, number>();
    for (const [index, item] of items.entries()) {
      const id = idOf(item);
      if (typeof id !== "string") continue;
      const firstIndex = firstIndexById.get(id);
      if (firstIndex === undefined) firstIndexById.set(id, index);
      else
        context.addIssue({
          code: "custom",
          path: [index, "id"],
          params: { code: "duplicate" },
          message: `The same ${what} is already at index ${firstIndex}`,
        });
    }
  });
  check._zod.def.when = (payload) => Array.isArray(payload.value);
  return check;
}
