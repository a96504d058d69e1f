/** Maximum number of values that the reference lists for an enumeration. A longer enumeration is summarized. */
const maxListedEnumValues = 60;

/**
 * Returns the OpenAPI document from which the reference pages are generated. The examples of schemas are copied to the
 * request and response bodies, and long enumerations are summarized. The document for download remains unchanged.
 * @param {string} text
 * @returns {string}
 */
export function createReferenceOpenApiDocument(text) {
  const document = JSON.parse(text);
  const { schemas } = document.components;
  visitObjects(document, (part) => {
    if (Array.isArray(part.enum) && part.enum.length > maxListedEnumValues) {
      const [first, second] = part.enum;
      part.description =
        `${part.description ?? ""} (one of ${part.enum.length} codes such as ${part.default ?? first}; the OpenAPI document lists all of them)`.trim();
      part.example ??= part.default ?? second;
      delete part.enum;
    }
    const { schema } = part;
    if (schema === undefined || part.in !== undefined || part.example !== undefined || part.examples !== undefined)
      return;
    const example = schema.example ?? schemas[schema.$ref?.replace("#/components/schemas/", "")]?.example;
    if (example !== undefined) part.example = example;
  });
  return JSON.stringify(document);
}

/**
 * @param {unknown} part
 * @param {(object: Record<string, any>) => void} visit
 */
function visitObjects(part, visit) {
  if (typeof part !== "object" || part === null) return;
  if (!Array.isArray(part)) visit(part);
  for (const child of Object.values(part)) visitObjects(child, visit);
}
