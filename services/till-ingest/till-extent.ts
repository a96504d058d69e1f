/**
 * Bounds on what a till may hold, well beyond any real one. Checking a body costs memory for each fault in it, so that
 * 50 MB of empty objects would take gigabytes.
 */

/** Objects and lists in a body: four times as many as 50 MB of real orders have. */
const mostContainers = 400_000;
/** Items in all the lists of one order, or of the till outside its orders. */
const mostItems = 20_000;
/** Real orders have ten levels. */
const mostLevels = 50;

const openers = [0x7b, 0x5b];

/** Whether a JSON text has more objects and lists than a till may have. Tells without parsing it. */
export function hasTooManyContainers(bytes: Uint8Array): boolean {
  let count = 0;
  for (const opener of openers) {
    for (let at = bytes.indexOf(opener); at !== -1; at = bytes.indexOf(opener, at + 1)) {
      count += 1;
      if (count > mostContainers) return true;
    }
  }
  return false;
}

/** Why a part of a till is too large to be looked at, `besides` left out; undefined when it is not. */
export function excessOf(
  part: unknown,
  { besides }: { besides?: object } = {},
): { code: string; message: string } | undefined {
  if (typeof part !== "object" || part === null) return undefined;
  let items = 0;
  let level = [part];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > mostLevels) return { code: "too_deep", message: `Must have at most ${mostLevels} levels of nesting` };
    for (const container of level) if (Array.isArray(container)) items += container.length;
    if (items > mostItems) return { code: "too_big", message: `Must have at most ${mostItems} rows in all its lists` };
    level = level.flatMap(containersIn).filter((container) => container !== besides);
  }
  return undefined;
}

function containersIn(container: object): object[] {
  return Object.values(container).filter((value) => typeof value === "object" && value !== null);
}
