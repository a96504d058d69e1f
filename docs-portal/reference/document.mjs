/** Maximum number of values that the reference lists for an enumeration. A longer enumeration is summarized. */
const maxListedEnumValues = 60;

/** The tags in the sequence of the reference. Other tags follow them. */
const tagOrder = [
  "Reports",
  "Days",
  "Orders",
  "Live orders",
  "Catalog",
  "Tills",
  "Webhooks",
  "Jobs",
  "Accounting",
  "E-reporting",
];

const messagesTag = { name: "Webhook messages", description: "Messages that the API sends to your endpoint" };
const legacyTag = {
  name: "Legacy",
  description: "Earlier versions of operations, for integrations that already use them",
};

/** The operations that earlier integrations use. They are the last group of the reference. */
const legacyOperations = new Set(["pushTillV1", "listReportsV0", "getReportV0", "listLegacyTills", "fetchLegacyTills"]);

/**
 * Returns the document from which docusaurus-plugin-openapi-docs generates a reference. Each operation has one tag, which
 * is its group in the sidebar. The OpenAPI document remains unchanged.
 * @param {Record<string, any>} openapi the OpenAPI document
 * @param {{ title: string; summary: string; description: string }} info texts of the first page. `summary` is for search
 * engines.
 * @param {(operation: Record<string, any>) => boolean} [isListed] whether the reference contains an operation
 * @returns {Record<string, any>}
 */
export function createReferenceDocument(openapi, info, isListed = () => true) {
  const document = structuredClone(openapi);
  document.info = { ...document.info, ...info };
  document.tags = orderTags(document.tags);
  visitObjects(document, summarizeLongEnumeration);
  visitObjects(document, addNullExample);
  for (const operation of listOperations(document)) {
    operation["x-page-description"] = firstSentence(operation.description);
    if (legacyOperations.has(operation.operationId)) operation.tags = [legacyTag.name];
  }
  for (const [event, { post: message }] of Object.entries(document.webhooks ?? {})) {
    message.tags = [messagesTag.name];
    message["x-event"] = event;
  }
  for (const paths of [document.paths, document.webhooks ?? {}])
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(methods)) if (!isListed(operation)) delete methods[method];
      if (Object.keys(methods).length === 0) delete paths[path];
    }
  return document;
}

/** @param {Record<string, any>} document @returns {Record<string, any>[]} the operations and the webhook messages */
export function listOperations({ paths, webhooks = {} }) {
  return [...Object.values(paths), ...Object.values(webhooks)].flatMap((methods) => Object.values(methods));
}

/** @param {{ name: string; description: string }[]} tags */
function orderTags(tags) {
  const rank = (/** @type {{ name: string }} */ { name }) => tagOrder.indexOf(name) + 1 || tagOrder.length + 1;
  const ordered = tags.toSorted((one, other) => rank(one) - rank(other));
  return [...ordered.flatMap((tag) => (tag.name === "Webhooks" ? [tag, messagesTag] : [tag])), legacyTag];
}

/** @param {Record<string, any>} part */
function summarizeLongEnumeration(part) {
  if (!Array.isArray(part.enum) || part.enum.length <= maxListedEnumValues) return;
  const [first, second] = part.enum;
  const summary = `One of ${part.enum.length} codes, such as \`${part.default ?? first}\`. The OpenAPI document lists all codes.`;
  part.description = part.description ? `${part.description.replace(/\.$/, "")}. ${summary}` : summary;
  part.example ??= part.default ?? second;
  delete part.enum;
}

/** Adds the example `null` to a nullable schema, for which the plugin's examples would otherwise contain `"string"`. */
function addNullExample(/** @type {Record<string, any>} */ part) {
  const hasValue = "example" in part || "default" in part || "properties" in part;
  if (!hasValue && Array.isArray(part.type) && part.type.includes("null")) part.example = null;
}

/** @param {string} text @returns {string} the first sentence without Markdown and double quotes */
function firstSentence(text) {
  const sentence = /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
  return sentence
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("`", "")
    .replaceAll('"', "'")
    .replaceAll("\n", " ");
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
