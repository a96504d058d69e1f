import { createRequire } from "node:module";

/*
 * The functions of docusaurus-plugin-openapi-docs that the site uses, although the plugin does not document them. An
 * update of the plugin can move them. docs/decisions/0017-reference-components.md explains why the site uses them.
 */

const pluginName = "docusaurus-plugin-openapi-docs";
const require = createRequire(import.meta.url);

/** @type {Pick<typeof import("docusaurus-plugin-openapi-docs/lib/markdown/utils.js"), "clean" | "create" | "render">} */
export const { clean, create, render } = loadInternals("lib/markdown/utils.js", ["clean", "create", "render"]);

/** @type {Pick<typeof import("docusaurus-plugin-openapi-docs/lib/openapi/createRequestExample.js"), "sampleRequestFromSchema">} */
export const { sampleRequestFromSchema } = loadInternals("lib/openapi/createRequestExample.js", [
  "sampleRequestFromSchema",
]);

/** @type {Pick<typeof import("docusaurus-plugin-openapi-docs/lib/openapi/createResponseExample.js"), "sampleResponseFromSchema">} */
export const { sampleResponseFromSchema } = loadInternals("lib/openapi/createResponseExample.js", [
  "sampleResponseFromSchema",
]);

/**
 * Returns the exports of a file of the plugin. Throws an error that names the file if the file or a function is missing.
 * @param {string} file
 * @param {string[]} names the functions that the file must export
 */
function loadInternals(file, names) {
  const advice =
    "See docs/decisions/0017-reference-components.md, and adapt docs-portal/reference/plugin-internals.mjs.";
  let exports;
  try {
    exports = require(`${pluginName}/${file}`);
  } catch (cause) {
    throw new Error(`${pluginName} has no usable file ${file}. ${advice}`, { cause });
  }
  const missing = names.filter((name) => typeof exports[name] !== "function");
  if (missing.length > 0)
    throw new Error(`The file ${file} of ${pluginName} does not export ${missing.join(", ")}. ${advice}`);
  return exports;
}
