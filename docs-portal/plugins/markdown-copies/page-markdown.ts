import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Root, RootContent } from "mdast";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkMdx from "remark-mdx";
import remarkParse from "remark-parse";
import remarkStringify from "remark-stringify";
import { unified } from "unified";
import { createLink, createTabLabel, isMdxJsxElement, type MarkdownRenderersByComponent } from "./components.ts";
import { evaluateMdxExpression } from "./evaluate.ts";

interface Page {
  title: string;
  description: string;
  markdown: string;
}

interface PageRenderOptions {
  portal: string;
  /** Returns the absolute URL of a path. */
  absolute: (path: string) => string;
  components: MarkdownRenderersByComponent;
}

/** Returns an MDX page as plain Markdown. Replaces imports and components with their content. */
export function renderPageMarkdown(file: string, rendering: PageRenderOptions): Page {
  const parser = unified().use(remarkParse).use(remarkMdx).use(remarkGfm).use(remarkFrontmatter);
  const tree = parser.parse(withoutHeadingIds(readFileSync(file, "utf8"))) as Root;
  const front = tree.children.find((node) => node.type === "yaml");
  const values = evaluateImports(tree, file, rendering);
  const children = tree.children.flatMap((node) => toPlainMarkdown(node, values, rendering));
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(front?.value ?? "")?.[1] ?? "";
  const body = unified()
    .use(remarkGfm)
    .use(remarkStringify, { bullet: "-", rule: "-" })
    .stringify({ type: "root", children });
  const title = field("title");
  return {
    title,
    description: field("description"),
    markdown: title === "" || body.startsWith("# ") ? body : `# ${title}\n\n${body}`,
  };
}

/** Returns the text without the `{#id}` of headings, because the MDX parser rejects this extension of Docusaurus. */
function withoutHeadingIds(text: string): string {
  return text.replace(/^(#+ .*?) \{#[\w-]+\}$/gm, "$1");
}

/** Returns the values that a page imports, by variable name: parsed JSON, a file's text, or a page as Markdown. */
function evaluateImports(tree: Root, file: string, rendering: PageRenderOptions): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const node of tree.children) {
    if (node.type !== "mdxjsEsm") continue;
    for (const [, name = "", from = ""] of node.value.matchAll(/import (\w+) from "([^"]+)"/g)) {
      const path = from.replace(/^!!|\?raw$/g, "").replace("@site", rendering.portal);
      if (path.endsWith(".json")) values[name] = JSON.parse(readFileSync(path, "utf8"));
      else if (from.endsWith("?raw")) values[name] = readFileSync(path, "utf8");
      else if (/\.mdx?$/.test(path)) values[name] = renderPageMarkdown(join(dirname(file), path), rendering).markdown;
    }
  }
  return values;
}

/** Returns the plain Markdown nodes that replace an MDX node. */
function toPlainMarkdown(
  node: RootContent,
  values: Record<string, unknown>,
  rendering: PageRenderOptions,
): RootContent[] {
  if (node.type === "yaml" || node.type === "mdxjsEsm" || node.type === "mdxFlowExpression") return [];
  if (node.type === "mdxTextExpression")
    return [{ type: "text", value: String(evaluateMdxExpression(node.value, values)) }];
  if (isMdxJsxElement(node)) {
    const component = rendering.components[node.name ?? ""];
    const imported = values[node.name ?? ""];
    if (component !== undefined) return component(node, (expression) => evaluateMdxExpression(expression, values));
    if (typeof imported === "string") return [{ type: "html", value: imported }];
    const content = node.children.flatMap((child) => toPlainMarkdown(child as RootContent, values, rendering));
    if (node.name === "a") return [createLink(node, content, rendering.absolute)];
    return node.name === "TabItem" ? [createTabLabel(node), ...content] : content;
  }
  if (node.type === "link" && node.url.startsWith("/")) return [{ ...node, url: rendering.absolute(node.url) }];
  if (!("children" in node)) return [node];
  const children = node.children.flatMap((child) => toPlainMarkdown(child as RootContent, values, rendering));
  return [{ ...node, children } as RootContent];
}
