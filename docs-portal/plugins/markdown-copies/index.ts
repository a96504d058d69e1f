import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LoadContext, Plugin } from "@docusaurus/types";
import { createMarkdownRenderersByComponent } from "./components.ts";
import type { OpenApiDocument } from "./openapi-document.ts";
import { renderOperationMarkdown } from "./operation-markdown.ts";
import { renderPageMarkdown } from "./page-markdown.ts";

const server = "http://127.0.0.1:4000";

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
    const pages = readdirSync(docs).filter((name) => name.endsWith(".mdx") && !name.startsWith("_"));
    return pages.map((name) => {
      const rendering = { portal: siteDir, absolute, components: createMarkdownRenderersByComponent(siteDir, server) };
      const { title, description, markdown } = renderPageMarkdown(join(docs, name), rendering);
      const path = `/docs/${name.replace(/\.mdx$/, ".md")}`;
      writeFileSync(join(outDir, path), markdown);
      return { path, title, description };
    });
  }

  function writeReference(outDir: string, document: OpenApiDocument): IndexEntry[] {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
    const webhooks = Object.entries(document.webhooks).flatMap(([event, methods]) =>
      Object.values(methods).map((operation) => ({ method: "POST", path: `your endpoint: ${event}`, operation })),
    );
    writeFileSync(join(outDir, "api", "index.md"), `# ${document.info.title}\n\n${document.info.description}\n`);
    return [...operations, ...webhooks].map((described) => {
      const { method, path, operation } = described;
      const page = `/api/${operationPagePath(operation.operationId)}`;
      if (!existsSync(join(outDir, page))) throw new Error(`${operation.operationId} has no page at ${page}.`);
      writeFileSync(join(outDir, `${page}.md`), renderOperationMarkdown(document, described));
      return { path: `${page}.md`, title: operation.summary, description: `${method} ${path}` };
    });
  }

  return {
    name: "markdown-copies",
    async postBuild({ outDir }) {
      const document: OpenApiDocument = JSON.parse(
        readFileSync(join(siteDir, ".generated", "static", "openapi.json"), "utf8"),
      );
      const listOf = (entries: IndexEntry[]) =>
        entries.map(({ path, title, description }) => `- [${title}](${absolute(path)}): ${description}`).join("\n");
      const index = [
        `# ${siteConfig.title}`,
        `> ${siteConfig.tagline}`,
        "To get a page as Markdown, append `.md` to its URL.",
        `## Guides\n\n${listOf(writeDocs(outDir))}`,
        `## Reference\n\n- [Introduction](${absolute("/api/index.md")}): API keys, values, lists and errors\n${listOf(writeReference(outDir, document))}`,
        `## Optional\n\n- [OpenAPI document](${absolute("/openapi.json")}): the whole reference in machine-readable form`,
      ].join("\n\n");
      writeFileSync(join(outDir, "llms.txt"), `${index}\n`);
    },
  };
}

/** Returns the path of an operation's page, as the reference plugin names it: `get-report-v-0` for `getReportV0`. */
function operationPagePath(operationId: string): string {
  return operationId
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .replace(/([A-Za-z])(\d)/g, "$1-$2")
    .replace(/[._ ]/g, "-")
    .toLowerCase();
}
