import searchLocal from "@easyops-cn/docusaurus-search-local";

export const { validateOptions } = searchLocal;

/**
 * The search of the navigation bar across guides and reference, without the plugin's search page.
 * @param {import("@docusaurus/types").LoadContext} context
 * @param {unknown} options
 * @returns {import("@docusaurus/types").Plugin}
 */
export default function searchPlugin(context, options) {
  const { contentLoaded: _, ...plugin } = searchLocal.default(context, options);
  return plugin;
}
