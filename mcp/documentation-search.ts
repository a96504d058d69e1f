import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type MiniSearch from "minisearch";
import { type Passage, readGuidePassages, readOperationPassages } from "./documentation-passages.ts";

/** Returns the best passages of the documentation for a query, and how many passages contain words of it. */
export type DocumentationSearch = (
  query: string,
  limit: number,
) => Promise<{ passages: Pick<Passage, "title" | "url" | "text">[]; foundCount: number }>;

interface DocumentationIndex {
  index: MiniSearch<Passage>;
  /** Other words for the terms of the documentation, by term. */
  synonyms: Record<string, string[]>;
}

interface DocumentationSources {
  openapi: Buffer;
  /** The URL of the guides, such as `https://docs.example/docs`. */
  docsUrl: string;
  folder: string;
}

/** Words that questions contain but that distinguish no passage. */
const stopWordList =
  "a an and are as at be by can do does for from get how i in is it mean my of on or that the there this to what when where which why with you your";
const stopWords = new Set(stopWordList.split(" "));

/**
 * Creates a search of the documentation of an installation. The index is built with the first query, which takes about a
 * tenth of a second, and stays in memory.
 */
export function createDocumentationSearch(sources: DocumentationSources): DocumentationSearch {
  let loading: Promise<DocumentationIndex> | undefined;
  return async (query, limit) => {
    loading ??= buildIndex(sources).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    const { index, synonyms } = await loading;
    const options = {
      boost: { title: 3, names: 3 },
      prefix: (term: string) => term.length > 3,
      fuzzy: (term: string) => (term.length > 5 ? 0.2 : false),
      weights: { prefix: 0.4, fuzzy: 0.1 },
    };
    const results = index.search(`${query} ${findTermsOfSynonyms(query, synonyms)}`, options) as unknown as Passage[];
    const byUrl = new Map<string, Passage>();
    for (const passage of results) if (!byUrl.has(passage.url)) byUrl.set(passage.url, passage);
    return { passages: [...byUrl.values()].slice(0, limit), foundCount: byUrl.size };
  };
}

/** The file beside the guides with other words for their terms, which the search of the site uses, too. */
const synonymsFile = "search-synonyms.json";

async function buildIndex({ openapi, docsUrl, folder }: DocumentationSources): Promise<DocumentationIndex> {
  const synonyms = JSON.parse(await readFile(join(folder, synonymsFile), "utf8"));
  const files = (await readdir(folder)).filter((file) => file.endsWith(".mdx")).sort();
  const guides = await Promise.all(
    files.map(async (file) => {
      const url = `${docsUrl}/${file.slice(0, -".mdx".length)}`;
      return readGuidePassages(await readFile(join(folder, file), "utf8"), { url });
    }),
  );
  const siteUrl = docsUrl.replace(/\/docs\/?$/, "");
  const passages = [...guides.flat(), ...readOperationPassages(JSON.parse(openapi.toString()), `${siteUrl}/api`)];
  const { default: SearchIndex } = await import("minisearch");
  const index = new SearchIndex<Passage>({
    fields: ["title", "names", "text"],
    storeFields: ["title", "url", "text"],
    tokenize: splitIntoTerms,
    processTerm: normalizeTerm,
  });
  // In parts, so that other requests are answered meanwhile.
  await index.addAllAsync(
    passages.map((passage, id) => ({ ...passage, id })),
    { chunkSize: 50 },
  );
  return { index, synonyms };
}

/** Returns the terms for which the query contains other words, such as `guest` for `covers`. */
function findTermsOfSynonyms(query: string, synonyms: Record<string, string[]>): string {
  const normalize = (text: string) =>
    ` ${splitIntoTerms(text)
      .map((word) => normalizeTerm(word) ?? word.toLowerCase())
      .join(" ")} `;
  const words = normalize(query);
  return Object.keys(synonyms)
    .filter((term) => synonyms[term]?.some((synonym) => words.includes(normalize(synonym))))
    .join(" ");
}

/** Returns the words of a text. An identifier yields itself and its parts: `day_not_found` also yields `day`. */
function splitIntoTerms(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => {
    const parts = word.split(/_+|(?<=[a-z\d])(?=[A-Z])/).filter((part) => part !== "");
    return parts.length > 1 ? [word, ...parts] : parts;
  });
}

/** Returns a term in lower case and in the singular, or null for a word that distinguishes no passage. */
function normalizeTerm(term: string): string | null {
  const lower = term.toLowerCase();
  if (stopWords.has(lower)) return null;
  if (lower.length > 4 && lower.endsWith("ies")) return `${lower.slice(0, -3)}y`;
  return lower.length > 3 && /[^su]s$/.test(lower) ? lower.slice(0, -1) : lower;
}
