/**
 * Bounds on what a large body may hold. Checking one costs memory for each fault in it, so that megabytes of empty
 * objects would take gigabytes.
 */

const openers = [0x7b, 0x5b];

/** Whether a JSON text has more objects and lists than this. Tells without parsing it. */
export function hasMoreContainersThan(most: number, bytes: Uint8Array): boolean {
  let count = 0;
  for (const opener of openers) {
    for (let at = bytes.indexOf(opener); at !== -1; at = bytes.indexOf(opener, at + 1)) {
      count += 1;
      if (count > most) return true;
    }
  }
  return false;
}

interface Extent {
  /** In all lists together. */
  items: number;
  levels: number;
}

/** Why a part of a body is too large to be looked at, `besides` left out; undefined when it is not. */
export function excessOf(
  part: unknown,
  most: Extent,
  { besides }: { besides?: object } = {},
): { code: string; message: string } | undefined {
  if (typeof part !== "object" || part === null) return undefined;
  let items = 0;
  let level = [part];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > most.levels) return { code: "too_deep", message: `Must have at most ${most.levels} levels of nesting` };
    for (const container of level) if (Array.isArray(container)) items += container.length;
    if (items > most.items)
      return { code: "too_big", message: `Must have at most ${most.items} rows in all its lists` };
    level = level.flatMap(containersIn).filter((container) => container !== besides);
  }
  return undefined;
}

function containersIn(container: object): object[] {
  return Object.values(container).filter((value) => typeof value === "object" && value !== null);
}
