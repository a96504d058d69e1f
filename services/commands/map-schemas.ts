/** A JSON Schema, or another object of a document. */
export type JsonObject = Record<string, unknown>;

/** These keywords contain values, not schemas. */
const valueKeywords = new Set(["const", "default", "enum", "example", "examples", "required"]);

/**
 * Returns a part of a document in which `change` has been applied to each object, from the inside out.
 *
 * @param isNameMap whether the keys are names that the API has chosen, such as those of properties, instead of keywords
 */
export function mapSchemas(part: unknown, change: (schema: JsonObject) => JsonObject, isNameMap = false): unknown {
  if (Array.isArray(part)) return part.map((item) => mapSchemas(item, change));
  if (typeof part !== "object" || part === null) return part;
  const entries = Object.entries(part).map(([key, value]) => {
    if (!isNameMap && valueKeywords.has(key)) return [key, value];
    return [key, mapSchemas(value, change, !isNameMap && (key === "properties" || key === "schemas"))];
  });
  const mapped: JsonObject = Object.fromEntries(entries);
  return isNameMap ? mapped : change(mapped);
}
