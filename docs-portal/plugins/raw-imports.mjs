/**
 * Lets pages import the text of a file: `import text from "!!@site/snippets/example.ts?raw"`.
 * @returns {import("@docusaurus/types").Plugin}
 */
export default function rawImportsPlugin() {
  return {
    name: "raw-imports",
    configureWebpack: () => ({ module: { rules: [{ resourceQuery: /^\?raw$/, type: "asset/source" }] } }),
  };
}
