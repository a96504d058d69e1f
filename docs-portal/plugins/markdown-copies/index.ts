import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LoadContext, Plugin } from "@docusaurus/types";
import { builtApiUrl } from "../../installation-urls.mjs";
import { createMarkdownRenderersByComponent } from "./components.ts";
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
    const pages = readdirSync(docs).filter((name) => name.endsWith(".mdx") && !name.startsWith("_"));
    return pages.map((name) => {
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
