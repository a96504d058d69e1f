import searchLocal from "@easyops-cn/docusaurus-search-local";

export const { validateOptions } = searchLocal;

/**
 * The search of the navbar over guides and reference, without a page of its own: the site has no other routes.
 * @param {import("@docusaurus/types").LoadContext} context
 * @param {unknown} options
 * @returns {import("@docusaurus/types").Plugin}
 */
export default function searchPlugin(context, options) {
  const { contentLoaded: _, ...plugin } = searchLocal.default(context, options);
  return plugin;
}
