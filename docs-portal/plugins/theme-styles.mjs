import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const styleFile = join(
  createRequire(import.meta.url).resolve("docusaurus-theme-openapi-docs"),
  "..",
  "theme",
  "styles.scss",
);
if (!existsSync(styleFile))
  throw new Error(
    `docusaurus-theme-openapi-docs has no file ${styleFile}. Adapt docs-portal/plugins/theme-styles.mjs.`,
  );

/**
 * Returns a plugin that omits the stylesheet of docusaurus-theme-openapi-docs. Its 100 KB, which every page would load,
 * are for components that the site replaces.
 * @returns {import("@docusaurus/types").Plugin}
 */
export default function themeStylesPlugin() {
  return {
    name: "theme-styles",
    configureWebpack: () => ({ resolve: { alias: { [styleFile]: false } } }),
  };
}
