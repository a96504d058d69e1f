type JsonObject = Record<string, unknown>;

/** These keywords contain values, not schemas. */
const valueKeywords = new Set(["const", "default", "enum", "example", "examples", "required"]);

/**
 * Returns a document in which each nullable enumeration is `anyOf` the enumeration and null. With `null` among the values
 * of `enum`, as zod writes them, some generators of clients make a value with the name `null`, or a type without null.
 */
export function separateNullFromEnumerations<Part>(part: Part): Part {
  return separateIn(part) as Part;
}

/** `isNameMap`: whether the keys are names that the API has chosen, such as those of properties, instead of keywords. */
function separateIn(part: unknown, isNameMap = false): unknown {
  if (Array.isArray(part)) return part.map((item) => separateIn(item));
  if (typeof part !== "object" || part === null) return part;
  const entries = Object.entries(part).map(([key, value]) => {
    if (!isNameMap && valueKeywords.has(key)) return [key, value];
    return [key, separateIn(value, !isNameMap && (key === "properties" || key === "schemas"))];
  });
  const separated: JsonObject = Object.fromEntries(entries);
  return isNameMap ? separated : separateNull(separated);
}

function separateNull(schema: JsonObject): JsonObject {
  const { type, enum: values, ...rest } = schema;
  if (!Array.isArray(values) || !values.includes(null)) return schema;
  const types = [type ?? []].flat().filter((name) => name !== "null");
  const enumeration = {
    ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
    enum: values.filter((value) => value !== null),
  };
  return { anyOf: [enumeration, { type: "null" }], ...rest };
}
