/** Above so many values an enumeration would fill the reference's page. */
const maxListedEnumValues = 60;

/**
 * The OpenAPI document as the reference shows it: the examples of schemas stand where bodies are, and an enumeration of
 * hundreds is told of instead of listed. The document that is offered for download stays whole.
 * @param {string} text
 * @returns {string}
 */
export function createReferenceDocument(text) {
  const document = JSON.parse(text);
  const { schemas } = document.components;
  visitObjects(document, (part) => {
    if (Array.isArray(part.enum) && part.enum.length > maxListedEnumValues) {
      const [first, second] = part.enum;
      part.description =
        `${part.description ?? ""} (one of ${part.enum.length} codes such as ${part.default ?? first}; the OpenAPI file lists them)`.trim();
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
 * @param {(object: Record<string, any>) => void} see
 */
function visitObjects(part, see) {
  if (typeof part !== "object" || part === null) return;
  if (!Array.isArray(part)) see(part);
  for (const below of Object.values(part)) visitObjects(below, see);
}
