import { createOperationPage } from "./operation-page.mjs";
import { clean, create, render } from "./plugin-internals.mjs";

/*
 * Generators for docusaurus-plugin-openapi-docs. The generators of the plugin pass whole schemas to the components: "Push
 * a till" alone would have 14,000 elements. `ApiItem` provides the components that the pages contain.
 */

/**
 * Returns the page of an operation or of a webhook message as MDX. The page exports the operation, from which `ApiItem`
 * renders the form and the examples.
 * @param {import("docusaurus-plugin-openapi-docs/src/types").ApiPageMetadata} item
 */
export function createApiPageMD({ title, api }) {
  const { operation, description, parameterGroups, body, responses, errors, hasCommonErrors } =
    createOperationPage(api);
  const isMessage = operation.method === "event";
  return render([
    `export const operation = ${JSON.stringify(operation)};\n\n`,
    "<OperationIntroduction>\n\n",
    createHeading(title),
    create("MethodEndpoint", { method: operation.method, path: operation.path }),
    createDescription(description),
    "\n\n</OperationIntroduction>\n\n<OperationPanel />\n\n<OperationDetails>\n\n",
    create("ParamsDetails", { parameterGroups }),
    "\n\n",
    body && create("RequestSchema", { title: isMessage ? "Message body" : "Request body", body }),
    "\n\n",
    create("StatusCodes", { title: isMessage ? "Your response" : "Response", responses, errors, hasCommonErrors }),
    "\n\n</OperationDetails>\n",
  ]);
}

/**
 * Returns the first page of a reference as MDX: the first paragraph of the document's description, the download, cards
 * with all operations, and the rest of the description.
 * @param {import("docusaurus-plugin-openapi-docs/src/types").InfoPageMetadata} item
 */
export function createInfoPageMD({ info: { title, description = "" }, downloadUrl }) {
  const [summary, ...notes] = description.split("\n\n");
  return render([
    createHeading(title),
    createDescription(summary),
    downloadUrl && create("Export", { url: downloadUrl }),
    "\n\n",
    "## Resources\n\n<ResourceCards />",
    createDescription(notes.join("\n\n")),
  ]);
}

/** @param {string} title */
function createHeading(title) {
  const heading = create("Heading", { children: title, as: "h1", className: "openapi__heading" }, { inline: true });
  return `${heading}\n\n`;
}

/** @param {string | undefined} description Markdown, which may contain characters that MDX would interpret */
function createDescription(description) {
  return `\n\n${clean(description)}\n\n`;
}

/**
 * Returns the item of an operation in the sidebar. The label of a webhook message is the name of its event.
 * @param {any} item
 * @returns {import("@docusaurus/plugin-content-docs/src/sidebars/types").SidebarItemDoc}
 */
export function createDocItem({ id, title, api }) {
  const { method } = api;
  return {
    type: "doc",
    id,
    label: api["x-event"] ?? title,
    className: `api-method ${method}`,
    customProps: { method },
  };
}
