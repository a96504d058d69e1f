import { z } from "zod";

interface LengthLimits {
  /** Left out: none. */
  min?: number;
}

/** Returns a schema of texts of at most `max` characters. */
export function limitedText(max: number, { min = 0 }: LengthLimits = {}): z.ZodString {
  return z.string().check(...lengthChecks(min, max));
}

/** Returns a schema of lists of at most `max` items. */
export function limitedList<Item extends z.ZodType>(
  item: Item,
  max: number,
  { min = 0 }: LengthLimits = {},
): z.ZodArray<Item> {
  return z.array(item).check(...lengthChecks(min, max));
}

/**
 * zod's own `.min()` and `.max()` read the `length` of whatever a client sends in place of a text or list, and throw
 * when it is an object that cannot be compared. These skip everything that is neither a text nor a list.
 */
function lengthChecks(minimum: number, maximum: number) {
  const when = ({ value }: { value: unknown }) => typeof value === "string" || Array.isArray(value);
  const max = new z.core.$ZodCheckMaxLength({ check: "max_length", maximum, when });
  return minimum > 0 ? [new z.core.$ZodCheckMinLength({ check: "min_length", minimum, when }), max] : [max];
}
