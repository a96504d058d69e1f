import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Root, RootContent } from "mdast";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkMdx from "remark-mdx";
import remarkParse from "remark-parse";
import remarkStringify from "remark-stringify";
import { unified } from "unified";
import { isElement, type MarkdownComponents } from "./components.ts";
import { evaluateExpression } from "./evaluate.ts";

interface Page {
  title: string;
  description: string;
  markdown: string;
}

interface PageRenderOptions {
  portal: string;
  /** Where a link's path is, absolute. */
  absolute: (path: string) => string;
  components: MarkdownComponents;
}

/** An MDX page as plain Markdown: what it imports and its components are replaced by what they show. */
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
  return { title, description: field("description"), markdown: title === "" ? body : `# ${title}\n\n${body}` };
}

/** `{#id}` is no MDX, but for the site's own loader. */
function withoutHeadingIds(text: string): string {
  return text.replace(/^(#+ .*?) \{#[\w-]+\}$/gm, "$1");
}

/** What a page's imports are bound to: parsed JSON, the text of a file, or another page. */
function evaluateImports(tree: Root, file: string, rendering: PageRenderOptions): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const node of tree.children) {
    if (node.type !== "mdxjsEsm") continue;
    for (const [, name = "", from = ""] of node.value.matchAll(/import (\w+) from "([^"]+)"/g)) {
      const path = from.replace(/^!!|\?raw$/g, "").replace("@site", rendering.portal);
      if (path.endsWith(".json")) values[name] = JSON.parse(readFileSync(path, "utf8"));
      else if (from.endsWith("?raw")) values[name] = readFileSync(path, "utf8");
      else if (path.endsWith(".mdx")) values[name] = renderPageMarkdown(join(dirname(file), path), rendering).markdown;
    }
  }
  return values;
}

/** A node without what is only of MDX, as any number of nodes. */
function toPlainMarkdown(
  node: RootContent,
  values: Record<string, unknown>,
  rendering: PageRenderOptions,
): RootContent[] {
  if (node.type === "yaml" || node.type === "mdxjsEsm" || node.type === "mdxFlowExpression") return [];
  if (isElement(node)) {
    const shown = rendering.components[node.name ?? ""];
    const imported = values[node.name ?? ""];
    if (shown !== undefined) return shown(node, (expression) => evaluateExpression(expression, values));
    if (typeof imported === "string") return [{ type: "html", value: imported }];
    return node.children.flatMap((child) => toPlainMarkdown(child as RootContent, values, rendering));
  }
  if (node.type === "link" && node.url.startsWith("/")) return [{ ...node, url: rendering.absolute(node.url) }];
  if (!("children" in node)) return [node];
  const children = node.children.flatMap((child) => toPlainMarkdown(child as RootContent, values, rendering));
  return [{ ...node, children } as RootContent];
}
