import searchLocal from "@easyops-cn/docusaurus-search-local";

export const { validateOptions } = searchLocal;

/**
 * Returns the plugin that adds a search of guides and reference to the navigation bar, without a separate search page.
 * @param {import("@docusaurus/types").LoadContext} context
 * @param {unknown} options
 * @returns {import("@docusaurus/types").Plugin}
 */
export default function searchPlugin(context, options) {
  const { contentLoaded: _, ...plugin } = searchLocal.default(context, options);
  return plugin;
}
