import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LoadContext, Plugin } from "@docusaurus/types";
import MiniSearch from "minisearch";
import { type SearchEntry, searchIndexOptions } from "../../src/search/search-index.ts";
import type { OpenApiDocument } from "../markdown-copies/openapi-document.ts";
import { listReferencePages, type ReferencePage } from "../markdown-copies/reference-pages.ts";
import { readErrorDetails } from "./error-details.ts";
import { type NewSearchEntry, readPageEntries } from "./page-entries.ts";
import { createFieldEntries, createOperationEntries } from "./reference-entries.ts";
import { searchSynonymsByUrl } from "./synonyms.ts";

/**
 * Returns a plugin that writes `search-index.json` after each build: the guides and their sections, the operations, their
 * fields, and the error codes. The search field loads the file when it gets the focus.
 */
export default function searchPlugin({ siteDir }: LoadContext): Plugin {
  return {
    name: "search",
    async postBuild({ outDir }) {
      const document: OpenApiDocument = JSON.parse(
        readFileSync(join(siteDir, ".generated", "static", "openapi.json"), "utf8"),
      );
      const errorCodes = new Set((document.components.schemas.Problem?.properties?.code?.enum ?? []) as string[]);
      const pages = sortByTag(document, listReferencePages(document));
      const referencePage = readPage(outDir, "/api/", errorCodes);
      // Only the page itself, because the pages of the messages contain the same fields.
      const messagesPage = readPage(outDir, "/api/webhook-messages", errorCodes);
      const errorDetails = readErrorDetails(join(siteDir, "examples"));
      const guideEntries = listPages(outDir, "docs").flatMap((url) => readPage(outDir, url, errorCodes));
      const entries = [
        ...guideEntries.map((entry) => addErrorDetails(entry, errorDetails)),
        ...referencePage.map((entry) => ({ ...entry, place: "API reference" })),
        ...messagesPage.slice(0, 1).map((entry) => ({ ...entry, place: "API reference" })),
        ...createOperationEntries(pages),
        ...createFieldEntries(document, pages, (url) => readElementIds(outDir, url)),
        ...listPages(outDir, "operators").flatMap((url) => readOperatorPage(outDir, url, errorCodes)),
      ];
      const index = new MiniSearch<SearchEntry>(searchIndexOptions);
      index.addAll(entries.map((entry, id) => ({ ...entry, id, aliases: getAliases(entry) })));
      writeFileSync(join(outDir, "search-index.json"), JSON.stringify(index));
    },
  };
}

/** Sorts the pages as in the sidebar, so that a field of many operations leads to one of the most important ones. */
function sortByTag({ tags }: OpenApiDocument, pages: ReferencePage[]): ReferencePage[] {
  const rankOf = ({ operation }: ReferencePage) => tags.findIndex(({ name }) => name === operation.tags[0]);
  return pages.sort((one, other) => rankOf(one) - rankOf(other));
}

/** Adds the details of error responses to the section about their code, because readers search for what they received. */
function addErrorDetails(entry: NewSearchEntry, details: Map<string, Set<string>>): NewSearchEntry {
  const ofCode = entry.kind === "error" ? details.get(entry.url.split("#")[1] ?? "") : undefined;
  return ofCode === undefined ? entry : { ...entry, text: [entry.text, ...ofCode].join("\n") };
}

/** Returns the synonyms of a page or section. Only the page itself has those of its URL, not its sections. */
function getAliases({ url }: NewSearchEntry): string {
  return (searchSynonymsByUrl[url] ?? []).join(", ");
}

/** Returns the URLs of the built pages in a folder of the site. */
function listPages(outDir: string, folder: string): string[] {
  const path = join(outDir, folder);
  if (!existsSync(path)) return [];
  const names = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names.map(({ name }) => `/${folder}/${name}`).filter((url) => existsSync(join(outDir, url, "index.html")));
}

function readPage(outDir: string, url: string, errorCodes: ReadonlySet<string>): NewSearchEntry[] {
  return readPageEntries(readFileSync(join(outDir, url, "index.html"), "utf8"), { url, errorCodes });
}

function readElementIds(outDir: string, url: string): string[] {
  const html = readFileSync(join(outDir, url, "index.html"), "utf8");
  return [...html.matchAll(/\sid="?([^\s">]+)/g)].map(([, id = ""]) => id);
}

/** Returns only the page, because partners, who search for the same words, do not use the operators' operations. */
function readOperatorPage(outDir: string, url: string, errorCodes: ReadonlySet<string>): NewSearchEntry[] {
  const [page] = readPage(outDir, url, errorCodes);
  return page ? [{ ...page, kind: "operator operation", place: "For operators" }] : [];
}
