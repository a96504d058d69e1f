const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;

/**
 * Returns the path and both values of the first difference between an expected and an actual response; null if there is
 * no difference. Ignores additional fields of the actual response. Equal instants may have different offsets.
 */
export function describeFirstDifference(expected: unknown, actual: unknown, path = "$"): string | null {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return describeDifference(path, expected, actual);
    for (const [index, item] of expected.entries()) {
      const difference = describeFirstDifference(item, actual[index], `${path}[${index}]`);
      if (difference) return difference;
    }
    return actual.length === expected.length
      ? null
      : describeDifference(`${path}.length`, expected.length, actual.length);
  }
  if (typeof expected === "object" && expected !== null) {
    if (typeof actual !== "object" || actual === null) return describeDifference(path, expected, actual);
    for (const [name, value] of Object.entries(expected)) {
      const difference = describeFirstDifference(value, (actual as Record<string, unknown>)[name], `${path}.${name}`);
      if (difference) return difference;
    }
    return null;
  }
  return Object.is(expected, actual) || isSameInstant(expected, actual)
    ? null
    : describeDifference(path, expected, actual);
}

function isSameInstant(expected: unknown, actual: unknown): boolean {
  if (typeof expected !== "string" || typeof actual !== "string") return false;
  return dateTime.test(expected) && dateTime.test(actual) && Date.parse(expected) === Date.parse(actual);
}

function describeDifference(path: string, expected: unknown, actual: unknown): string {
  return `${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;
}
