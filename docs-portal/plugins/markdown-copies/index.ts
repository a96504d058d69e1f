import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LoadContext, Plugin } from "@docusaurus/types";
import { builtApiUrl } from "../../installation-urls.mjs";
import sidebars from "../../sidebars.ts";
import { createMarkdownRenderersByComponent } from "./components.ts";
import { renderHomePageMarkdown } from "./home-page-markdown.ts";
import { renderMessagesMarkdown } from "./messages-markdown.ts";
import type { OpenApiDocument } from "./openapi-document.ts";
import { renderOperationMarkdown } from "./operation-markdown.ts";
import { renderPageMarkdown } from "./page-markdown.ts";
import { listReferencePages } from "./reference-pages.ts";

/** A page that is listed in `llms.txt`. */
interface IndexEntry {
  path: string;
  title: string;
  description: string;
}

/**
 * Returns a plugin that writes files for AI tools after each build: a Markdown copy of each page, such as
 * `/docs/requests.md`, and an index of these copies in `llms.txt`.
 */
export default function markdownCopiesPlugin({ siteDir, siteConfig }: LoadContext): Plugin {
  const absolute = (path: string) => `${siteConfig.url}${path}`;

  function writeDocs(outDir: string): IndexEntry[] {
    const docs = join(siteDir, "docs");
    const sequence = listDocIds(Object.values(sidebars).flat());
    // A page that is not in the sidebar is last.
    const rankOf = (name: string) => sequence.indexOf(name.replace(/\.mdx$/, "")) + 1 || sequence.length + 1;
    const pages = readdirSync(docs).filter((name) => name.endsWith(".mdx") && !name.startsWith("_"));
    return pages
      .toSorted((one, other) => rankOf(one) - rankOf(other))
      .map((name) => {
        const rendering = {
          portal: siteDir,
          absolute,
          components: createMarkdownRenderersByComponent(siteDir, builtApiUrl),
        };
        const { title, description, markdown } = renderPageMarkdown(join(docs, name), rendering);
        const path = `/docs/${name.replace(/\.mdx$/, ".md")}`;
        writeFileSync(join(outDir, path), markdown);
        return { path, title, description };
      });
  }

  function writeReference(outDir: string, document: OpenApiDocument): IndexEntry[] {
    writeFileSync(join(outDir, "api", "index.md"), `# ${document.info.title}\n\n${document.info.description}\n`);
    return listReferencePages(document).map((page) => {
      const { url, method, path, operation } = page;
      if (!existsSync(join(outDir, url))) throw new Error(`${operation.operationId} has no page at ${url}.`);
      writeFileSync(join(outDir, `${url}.md`), renderOperationMarkdown(document, page));
      return { path: `${url}.md`, title: operation.summary, description: `${method} ${path}` };
    });
  }

  function writeMessagesPage(outDir: string): IndexEntry {
    const path = "/api/webhook-messages.md";
    const asyncapi = JSON.parse(readFileSync(join(siteDir, "..", "contracts", "asyncapi.json"), "utf8"));
    writeFileSync(join(outDir, path), renderMessagesMarkdown(asyncapi, absolute));
    return { path, title: "All webhook messages", description: "headers, fields and examples of the messages" };
  }

  /** The operators' reference has pages only for the operations that the partners' reference does not contain. */
  function writeOperatorReference(outDir: string): IndexEntry[] {
    if (!existsSync(join(outDir, "operators"))) return [];
    const document = readDocument("openapi.full.json");
    const pages = listReferencePages(document, "/operators").filter(({ url }) => existsSync(join(outDir, url)));
    const entries = pages.map((page) => {
      const { url, method, path, operation } = page;
      writeFileSync(join(outDir, `${url}.md`), renderOperationMarkdown(document, page));
      return { path: `${url}.md`, title: operation.summary, description: `${method} ${path}` };
    });
    writeFileSync(join(outDir, "operators", "index.md"), `# Operator reference\n\n${formatEntries(entries)}\n`);
    return entries;
  }

  const formatEntries = (entries: IndexEntry[]) =>
    entries.map(({ path, title, description }) => `- [${title}](${absolute(path)}): ${description}`).join("\n");

  const readDocument = (name: string): OpenApiDocument =>
    JSON.parse(readFileSync(join(siteDir, "..", "contracts", name), "utf8"));

  return {
    name: "markdown-copies",
    async postBuild({ outDir }) {
      const { title, tagline } = siteConfig;
      writeFileSync(join(outDir, "index.md"), renderHomePageMarkdown({ title, tagline, absolute }));
      const operatorEntries = writeOperatorReference(outDir);
      const index = [
        `# ${siteConfig.title}`,
        `> ${siteConfig.tagline}`,
        "To get a page as Markdown, append `.md` to its URL, or `index.md` to a URL that ends with `/`.",
        `## Guides\n\n${formatEntries(writeDocs(outDir))}`,
        `## Reference\n\n- [Introduction](${absolute("/api/index.md")}): API keys, values, lists and errors\n${formatEntries([...writeReference(outDir, readDocument("openapi.json")), writeMessagesPage(outDir)])}`,
        ...(operatorEntries.length > 0 ? [`## Reference for operators\n\n${formatEntries(operatorEntries)}`] : []),
        `## Optional\n\n- [OpenAPI document](${absolute("/openapi.json")}): the whole reference in machine-readable form\n- [AsyncAPI document](${absolute("/asyncapi.json")}): the webhook messages in machine-readable form`,
      ].join("\n\n");
      writeFileSync(join(outDir, "llms.txt"), `${index}\n`);
    },
  };
}

/** Returns the ids of the guides in a sidebar, in the sequence of the sidebar. */
function listDocIds(items: unknown[]): string[] {
  return items.flatMap((item) => {
    if (typeof item === "string") return [item];
    const { type, id, items: children } = item as { type?: string; id?: string; items?: unknown[] };
    return type === "doc" && id !== undefined ? [id] : listDocIds(children ?? []);
  });
}
