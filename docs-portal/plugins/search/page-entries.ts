import { load } from "cheerio";
import type { SearchEntry } from "../../src/search/search-index.ts";

export type NewSearchEntry = Omit<SearchEntry, "id" | "aliases">;

interface PageOptions {
  url: string;
  /** The error codes, whose sections are results of their own kind. */
  errorCodes: ReadonlySet<string>;
}

/** Elements whose text is not part of the page's content. */
const ignoredElements =
  "script, style, svg, button, pre, [role=tablist], .hash-link, .theme-doc-toc-mobile, .theme-doc-version-badge, [data-search-ignored]";

/** The languages of programs, by the class of their code. Code in other languages is a command or data. */
const languageNames: Record<string, string> = { typescript: "TypeScript", python: "Python", php: "PHP" };

/** Returns the entries of a built page: the page itself, and each section with a heading. */
export function readPageEntries(html: string, { url, errorCodes }: PageOptions): NewSearchEntry[] {
  const $ = load(html);
  const article = $("article").first();
  const programs = article
    .find(".theme-code-block:has([class*=codeBlockTitle])")
    .toArray()
    .map((block) => {
      const [, language = ""] = /language-(\w+)/.exec($(block).attr("class") ?? "") ?? [];
      return {
        language: languageNames[language],
        file: $(block).find("[class*=codeBlockTitle]").first().text().trim(),
      };
    });
  article.find(ignoredElements).remove();
  const pageTitle = article.find("h1").first().text().trim();
  const description = $('meta[name="description"]').attr("content") ?? "";
  const entries: NewSearchEntry[] = [];
  const page = createEntry({ kind: "guide", title: pageTitle, place: "Guide", url });
  page.excerpt = shorten(description);
  page.names = [...new Set(programs.flatMap(({ language, file }) => (language ? [language, file] : [])))].join(" ");
  entries.push(page);
  let current = page;
  // Blocks are read in the sequence of the page. Each heading with an anchor begins a new entry.
  for (const element of article.find("h2, h3, h4, h5, p, li, td, th, dt, dd, summary").toArray()) {
    const block = $(element);
    const text = block.clone().children("ul, ol, table, p").remove().end().text().replace(/\s+/g, " ").trim();
    const anchor = block.attr("id");
    if (/^h\d$/.test(element.tagName) && anchor !== undefined) {
      current = createEntry({ ...describeSection({ anchor, url, errorCodes, pageTitle }), title: text });
      entries.push(current);
    } else if (text !== "") {
      current.text += `${text}\n`;
      if (current.excerpt === "" && element.tagName === "p") current.excerpt = shorten(text);
    }
  }
  page.text = `${description}\n${page.text}`;
  return entries.filter(({ title }) => title !== "");
}

function describeSection({ anchor, url, errorCodes, pageTitle }: PageOptions & { anchor: string; pageTitle: string }) {
  const place = { place: pageTitle, url: `${url}#${anchor}` };
  if (errorCodes.has(anchor)) return { ...place, kind: "error" as const, place: "Error code" };
  return { ...place, kind: url === "/docs/glossary" ? ("term" as const) : ("section" as const) };
}

function createEntry(entry: Pick<NewSearchEntry, "kind" | "title" | "place" | "url">): NewSearchEntry {
  return { ...entry, excerpt: "", names: "", text: "" };
}

/** Returns the beginning of a text without Markdown, cut between words. */
export function shorten(markdown: string, maxLength = 120): string {
  const text = markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/`|\*\*/g, "");
  if (text.length <= maxLength) return text;
  const cut = text.slice(0, maxLength);
  return `${cut.slice(0, cut.lastIndexOf(" "))}…`;
}
