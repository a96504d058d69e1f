import MiniSearch, { type Options, type SearchResult } from "minisearch";
import synonymsByTerm from "../../docs/search-synonyms.json";

/** What a search result leads to. */
export type SearchEntryKind = "guide" | "section" | "operation" | "operator operation" | "field" | "error" | "term";

/** A place on the site that the search finds. */
export interface SearchEntry {
  id: number;
  kind: SearchEntryKind;
  title: string;
  /** Where the entry is, such as the title of the page. Shown below the title. */
  place: string;
  url: string;
  /** The first words of the text. Shown below the title. */
  excerpt: string;
  /** Other words for the title, such as "sandbox" for the page about the first request. */
  aliases: string;
  /** Identifiers, such as a path or an operation id. */
  names: string;
  text: string;
}

export type SearchHit = Pick<SearchEntry, "kind" | "title" | "place" | "url" | "excerpt">;

/** Maximum number of characters in a query, because the time of a search grows with the query. */
export const maxSearchQueryLength = 200;

/** Words that a question contains but that distinguish no page. */
const stopWords = new Set(
  "a an and are as at be by can do does for from get how i in is it my of on or that the this to what when where which with you your".split(
    " ",
  ),
);

/** The weight of each kind, for entries that match equally well. */
const kindWeights: Record<SearchEntryKind, number> = {
  guide: 1.6,
  error: 1.5,
  term: 1.1,
  operation: 1.2,
  section: 1,
  field: 0.5,
  "operator operation": 0.4,
};

export const searchIndexOptions: Options<SearchEntry> = {
  fields: ["title", "aliases", "names", "text"],
  storeFields: ["kind", "title", "place", "url", "excerpt", "aliases"],
  tokenize: splitIntoTerms,
  processTerm: normalizeTerm,
};

/** Returns the words of a text. An identifier yields itself and its parts: `priceList` yields `priceList`, `price`, `List`. */
function splitIntoTerms(text: string): string[] {
  return text
    .split(/[^\p{L}\p{N}_€'’-]+/u)
    .flatMap((word) => {
      const whole = word.replace(/^[_'’-]+|[_'’-]+$/g, "");
      const parts = whole.split(/[_'’-]+|(?<=[a-z\d])(?=[A-Z])/);
      return parts.length > 1 ? [whole, ...parts] : parts;
    })
    .filter((term) => term !== "");
}

/** Returns a term in lower case and in the singular, or null for a word that distinguishes no page. */
function normalizeTerm(term: string): string | null {
  const lower = term.toLowerCase();
  if (stopWords.has(lower)) return null;
  if (lower.length > 4 && lower.endsWith("ies")) return `${lower.slice(0, -3)}y`;
  return lower.length > 3 && /[^su]s$/.test(lower) ? lower.slice(0, -1) : lower;
}

/** The terms of the site by the other words for them, the longest words first. All words are normalized. */
const termBySynonym = Object.entries(synonymsByTerm)
  .flatMap(([term, synonyms]) => synonyms.map((synonym) => [normalizePhrase(synonym), normalizePhrase(term)] as const))
  .sort(([one], [other]) => other.length - one.length);

/**
 * Returns at most `limit` results, best first. If the query contains other words for terms of the site, the results for
 * these terms are first.
 */
export function search(index: MiniSearch<SearchEntry>, text: string, limit = 12): SearchHit[] {
  const query = withoutStatusWords(withoutErrorsPage(text));
  const inTermsOfSite = replaceSynonyms(query);
  const results = (inTermsOfSite === undefined ? [query] : [inTermsOfSite, query]).flatMap((words) =>
    findEntries(index, words),
  );
  return withoutRepeatedPlaces(results).slice(0, limit);
}

/** Returns the query with the terms of the site instead of other words for them, or undefined if it has no such words. */
function replaceSynonyms(query: string): string | undefined {
  const original = ` ${normalizePhrase(query)} `;
  const replaced = termBySynonym.reduce(
    (words, [synonym, term]) => words.replace(` ${synonym} `, ` ${term} `),
    original,
  );
  return replaced === original ? undefined : replaced.trim();
}

/** Returns the entries with all words of the query, best first. If no entry has all words, one word is enough. */
function findEntries(index: MiniSearch<SearchEntry>, query: string): SearchResult[] {
  const wanted = normalizePhrase(query);
  const options = {
    boost: { title: 6, aliases: 5, names: 4, text: 1 },
    prefix: (term: string) => term.length > 1,
    fuzzy: (term: string) => (term.length > 4 ? 0.2 : false),
    weights: { prefix: 0.4, fuzzy: 0.15 },
    boostDocument: (_id: unknown, _term: string, stored?: Record<string, unknown>) =>
      getDocumentWeight(stored as unknown as SearchEntry, wanted, query.trim()),
  };
  const withAllWords = index.search(query, { ...options, combineWith: "AND" });
  return withAllWords.length > 0 ? withAllWords : index.search(query, options);
}

/** Returns only the code of the end of an error's `type`, such as `errors#till_conflict`. */
function withoutErrorsPage(query: string): string {
  return query.trim().replace(/^(?:\S*\/)?errors\/?#(?=\w)/, "");
}

/** Returns only the number of a query for a status, such as `status 404` or `HTTP error 404`. */
function withoutStatusWords(query: string): string {
  const words = query.trim().split(/\s+/);
  const others = words.filter((word) => !/^(https?|status|code|error|response)$/i.test(word));
  const [status = "", ...rest] = others;
  return rest.length === 0 && /^[1-5]\d\d$/.test(status) ? status : query;
}

/** Returns the weight of an entry: more for a title that is the query than for one that begins with it. */
function getDocumentWeight({ kind, title, aliases }: SearchEntry, wanted: string, query: string): number {
  const weight = kindWeights[kind];
  // A name such as `quantity` is also an ordinary word, so it is not a sign that the reader searches for the field.
  if (kind === "field")
    return weight * (title.toLowerCase() !== query.toLowerCase() ? 1 : /[a-z][A-Z]|[_-]/.test(title) ? 16 : 3);
  const name = normalizePhrase(title);
  if (name === wanted) return 8 * weight;
  if (aliases.split(", ").some((alias) => normalizePhrase(alias) === wanted)) return 6 * weight;
  return name.startsWith(`${wanted} `) ? 2 * weight : weight;
}

/** Returns a phrase in lower case, with each word in the singular. */
function normalizePhrase(text: string): string {
  const words = text.trim().toLowerCase().split(/\s+/);
  return words.map((word) => normalizeTerm(word) ?? word).join(" ");
}

/** Keeps the best two results with the same title, because many objects have fields with the same name. */
function withoutRepeatedPlaces(results: SearchResult[]): SearchHit[] {
  const shown = new Map<string, number>();
  const hits: SearchHit[] = [];
  for (const result of results) {
    const { kind, title, place, url, excerpt } = result as unknown as SearchHit;
    const count = shown.get(title) ?? 0;
    if (count >= 2 || hits.some((hit) => hit.url === url)) continue;
    shown.set(title, count + 1);
    hits.push({ kind, title, place, url, excerpt });
  }
  return hits;
}

/**
 * Returns the index that the plugin wrote.
 * @public
 */
export function parseSearchIndex(json: string): Promise<MiniSearch<SearchEntry>> {
  return MiniSearch.loadJSONAsync<SearchEntry>(json, searchIndexOptions);
}

let loading: Promise<MiniSearch<SearchEntry>> | undefined;

/** Loads the index. The file is requested once; after a failed request, the next call requests it again. */
export function loadSearchIndex(url: string): Promise<MiniSearch<SearchEntry>> {
  loading ??= fetch(url)
    .then(async (response) => {
      if (!response.ok) throw new Error(`The search index could not be loaded (${response.status}).`);
      return parseSearchIndex(await response.text());
    })
    .catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
  return loading;
}
