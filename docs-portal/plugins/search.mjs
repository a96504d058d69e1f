import searchLocal from "@easyops-cn/docusaurus-search-local";

export const { validateOptions } = searchLocal;

/**
 * Returns a plugin that adds a search field for the guides and the reference to the navigation bar. `contentLoaded` is
 * removed from the plugin, because it would add a page for search results.
 * @param {import("@docusaurus/types").LoadContext} context
 * @param {unknown} options
 * @returns {import("@docusaurus/types").Plugin}
 */
export default function searchPlugin(context, options) {
  const { contentLoaded: _, ...plugin } = searchLocal.default(context, options);
  return plugin;
}
