import { createRequire } from "node:module";
import { join } from "node:path";

const themeFolder = join(createRequire(import.meta.url).resolve("docusaurus-theme-openapi-docs"), "..", "theme");

/**
 * Returns a plugin that omits the stylesheet of docusaurus-theme-openapi-docs. Its 100 KB, which every page would load,
 * are for components that the site replaces.
 * @returns {import("@docusaurus/types").Plugin}
 */
export default function themeStylesPlugin() {
  return {
    name: "theme-styles",
    configureWebpack: () => ({ resolve: { alias: { [join(themeFolder, "styles.scss")]: false } } }),
  };
}
