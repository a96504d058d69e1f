/**
 * Returns a plugin with which pages can import a file as text: `import text from "!!@site/snippets/example.ts?raw"`.
 * @returns {import("@docusaurus/types").Plugin}
 */
export default function rawImportsPlugin() {
  return {
    name: "raw-imports",
    configureWebpack: () => ({ module: { rules: [{ resourceQuery: /^\?raw$/, type: "asset/source" }] } }),
  };
}
