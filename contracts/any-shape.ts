import { z } from "zod";
import { orNull } from "./fields.ts";
import { limitedText } from "./length-limits.ts";

const mostFields = 200;
const mostLevels = 16;

/**
 * A person or a place as an ordering platform sends it: a text, or an object whose fields are the platform's own, of at
 * most 200 fields and 16 levels.
 */
export const ofAnyShape = (description: string) =>
  orNull(
    z.union([
      limitedText(10_000),
      z
        .record(limitedText(255), z.unknown())
        .refine((object) => Object.keys(object).length <= mostFields, {
          error: `Must have at most ${mostFields} fields`,
        })
        .refine((object) => nestsAtMost(mostLevels, object), { error: `Must nest at most ${mostLevels} levels deep` }),
    ]),
  ).meta({ description });

/** Whether a value nests at most so many levels. It looks no deeper, so that no nesting can exhaust the stack. */
function nestsAtMost(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => nestsAtMost(levels - 1, inner));
}
