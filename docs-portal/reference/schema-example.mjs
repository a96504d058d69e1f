/**
 * Returns an example of a schema, composed from the examples of its parts.
 * @param {Record<string, any>} schema
 * @param {Record<string, any>} schemas the schemas of the document by name
 * @returns {unknown}
 */
export function exampleOfSchema(schema, schemas) {
  const { $ref, example, items, properties, anyOf, oneOf, ...rest } = schema;
  if (example !== undefined) return example;
  if ($ref !== undefined) return exampleOfSchema(schemas[$ref.replace("#/components/schemas/", "")] ?? {}, schemas);
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return exampleOfSchema(choices[0], schemas);
  if (properties !== undefined)
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, exampleOfSchema(property, schemas)]),
    );
  if (items !== undefined) return [exampleOfSchema(items, schemas)];
  if (rest.default !== undefined) return rest.default;
  if (rest.enum !== undefined) return rest.enum[0];
  return exampleOfType(rest);
}

/** @param {Record<string, any>} schema */
function exampleOfType({ type, format, minimum = 0 }) {
  if ([type].flat().includes("null")) return null;
  if (type === "integer" || type === "number") return minimum;
  if (type === "boolean") return false;
  if (type === "array") return [];
  if (type === "object") return {};
  if (format === "uuid") return "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9";
  if (format === "date-time") return "2026-05-29T10:17:19.000Z";
  return "string";
}
