import { marked } from "marked";

/** Maximum number of values that the reference lists for an enumeration. A longer enumeration is summarized. */
const maxListedEnumValues = 60;

/**
 * @typedef {{ method: string; path: string; operation: Record<string, any> }} DocumentedOperation An operation, or the
 * message of a webhook, whose method is `event` and whose path is the name of the event
 * @typedef {{ label: string; description: string; isCollapsed: boolean; operations: DocumentedOperation[] }} OperationGroup
 */

/**
 * Returns an OpenAPI document in which long enumerations are replaced by a summary. The document for download keeps
 * them.
 * @param {string} text
 * @returns {Record<string, any>}
 */
export function parseReferenceDocument(text) {
  const document = JSON.parse(text);
  visitObjects(document, (part) => {
    if (!Array.isArray(part.enum) || part.enum.length <= maxListedEnumValues) return;
    const [first, second] = part.enum;
    const summary = `One of ${part.enum.length} codes, such as \`${part.default ?? first}\`. The OpenAPI document lists all codes.`;
    part.description = part.description ? `${part.description.replace(/\.$/, "")}. ${summary}` : summary;
    part.example ??= part.default ?? second;
    delete part.enum;
  });
  return document;
}

/** @param {Record<string, any>} document @returns {DocumentedOperation[]} the operations, then the webhook messages */
export function listOperations(document) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const messages = Object.entries(document.webhooks ?? {}).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ method: "event", path, operation })),
  );
  return [...operations, ...messages];
}

/** The operations that earlier integrations use. They are the last group of the reference. */
const legacyOperations = new Set(["pushTillV1", "listReportsV0", "getReportV0", "listLegacyTills", "fetchLegacyTills"]);

/** The tags in the sequence of the reference. Other tags follow them. */
const tagOrder = ["Reports", "Orders", "Live orders", "Catalog", "Tills", "Webhooks", "Jobs", "Accounting"];

/**
 * Returns the operations in groups: one group for each tag, then the webhook messages and the legacy operations.
 * @param {Record<string, any>} document
 * @param {DocumentedOperation[]} operations
 * @returns {OperationGroup[]}
 */
export function groupOperations(document, operations) {
  const rank = (/** @type {{ name: string }} */ { name }) => tagOrder.indexOf(name) + 1 || tagOrder.length + 1;
  const isLegacy = (/** @type {DocumentedOperation} */ { operation }) => legacyOperations.has(operation.operationId);
  const isMessage = (/** @type {DocumentedOperation} */ { method }) => method === "event";
  const groups = document.tags
    .toSorted((/** @type {any} */ one, /** @type {any} */ other) => rank(one) - rank(other))
    .flatMap((/** @type {{ name: string; description: string }} */ { name, description }) => {
      const tagged = operations.filter(({ operation }) => operation.tags[0] === name);
      const messages = tagged.filter(isMessage);
      return [
        { label: name, description, operations: tagged.filter((each) => !isMessage(each) && !isLegacy(each)) },
        {
          label: "Webhook messages",
          description: "Messages that the API sends to your endpoint",
          operations: messages,
        },
      ];
    });
  const legacy = {
    label: "Legacy",
    description: "Earlier versions of operations, for integrations that already use them",
    operations: operations.filter(isLegacy),
    isCollapsed: true,
  };
  return [...groups, legacy]
    .filter((group) => group.operations.length > 0)
    .map((group) => ({ isCollapsed: false, ...group }));
}

/**
 * Returns the path of the page of an operation: `get-report-v-0` for `getReportV0`.
 * @param {string} operationId
 * @returns {string}
 */
export function operationPageId(operationId) {
  return operationId
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .replace(/([A-Za-z])(\d)/g, "$1-$2")
    .replace(/[._ ]/g, "-")
    .toLowerCase();
}

/** @param {string} markdown @returns {string} the Markdown text as HTML with paragraphs and lists */
export function renderBlocks(markdown) {
  return String(marked.parse(markdown, { async: false })).trim();
}

/** @param {string} markdown @returns {string} the Markdown text of one paragraph as HTML */
export function renderInline(markdown) {
  return String(marked.parseInline(markdown, { async: false }));
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
