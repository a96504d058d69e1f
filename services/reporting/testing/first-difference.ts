const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;

/**
 * Where a reply first departs from what is expected of it, as a path with both values; null when it does not. The reply
 * may have more fields, and a date-time may be another spelling of the same instant.
 */
export function findFirstDifference(expected: unknown, found: unknown, path = "$"): string | null {
  if (Array.isArray(expected)) {
    if (!Array.isArray(found)) return describeDifference(path, expected, found);
    for (const [index, item] of expected.entries()) {
      const difference = findFirstDifference(item, found[index], `${path}[${index}]`);
      if (difference) return difference;
    }
    return found.length === expected.length
      ? null
      : describeDifference(`${path}.length`, expected.length, found.length);
  }
  if (typeof expected === "object" && expected !== null) {
    if (typeof found !== "object" || found === null) return describeDifference(path, expected, found);
    for (const [name, value] of Object.entries(expected)) {
      const difference = findFirstDifference(value, (found as Record<string, unknown>)[name], `${path}.${name}`);
      if (difference) return difference;
    }
    return null;
  }
  return Object.is(expected, found) || isSameInstant(expected, found)
    ? null
    : describeDifference(path, expected, found);
}

function isSameInstant(one: unknown, other: unknown): boolean {
  if (typeof one !== "string" || typeof other !== "string") return false;
  return dateTime.test(one) && dateTime.test(other) && Date.parse(one) === Date.parse(other);
}

function describeDifference(path: string, expected: unknown, found: unknown): string {
  return `${path}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`;
}
