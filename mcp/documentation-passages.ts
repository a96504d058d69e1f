export interface Passage {
  title: string;
  url: string;
  text: string;
  /** Identifiers by which the passage is found, such as the path of an operation. */
  names: string;
}

export const maxPassageLength = 600;

/**
 * Returns the passages of a guide, which is written in MDX. Leaves out code and components, but the languages of programs
 * are among the names of their section. The site's Markdown copies are
 * not used, because the gateway runs without a build of the site, and an MDX parser would be a large dependency of it. A
 * test compares the anchors with those of the site.
 */
export function readGuidePassages(mdx: string, { url }: { url: string }): Passage[] {
  const [, front = "", body = ""] = /^---\n(.*?)\n---\n(.*)$/s.exec(mdx) ?? [];
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(front)?.[1] ?? "";
  const pageTitle = field("title");
  const sections: { title: string; url: string; lines: string[]; languages: Set<string> }[] = [
    { title: pageTitle, url, lines: [field("description")], languages: new Set() },
  ];
  for (const line of body.replace(/^(```|~~~).*?^\1/gms, "").split("\n")) {
    const heading = /^#{2,5} (.*?)(?: \{#([\w-]+)\})?$/.exec(line);
    if (heading) {
      const name = toPlainText(heading[1] ?? "");
      sections.push({
        title: `${pageTitle}: ${name}`,
        url: `${url}#${heading[2] ?? createAnchor(name)}`,
        lines: [],
        languages: new Set(),
      });
      continue;
    }
    if (/^\s*<CodeBlock /.test(line)) {
      // The title of a program is its file name. Other titles are those of commands and data.
      const [, language] = /language="(\w+)" title="[\w-]+\.\w+"/.exec(line) ?? [];
      if (language !== undefined) sections.at(-1)?.languages.add(language);
      continue;
    }
    const text = toPlainText(line);
    if (text !== "") sections.at(-1)?.lines.push(text);
  }
  return sections.flatMap(({ title, url: sectionUrl, lines, languages }) => {
    const names = [sectionUrl.split("#")[1] ?? "", ...languages].join(" ").trim();
    return splitText(lines).map((text) => ({ title, url: sectionUrl, text, names }));
  });
}

interface DescribedOperations {
  paths: Record<
    string,
    Record<string, { operationId: string; summary: string; description?: string; tags?: string[] }>
  >;
}

export function readOperationPassages({ paths }: DescribedOperations, url: string): Passage[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { operationId, summary, description = "", tags = [] }]) =>
      splitText([`${method.toUpperCase()} ${path}`, ...description.split("\n").map(toPlainText)]).map((text) => ({
        title: `Operation: ${summary}`,
        url: `${url}/${getOperationPageName(operationId)}`,
        text,
        names: `${operationId} ${path} ${tags.join(" ")}`,
      })),
    ),
  );
}

/** Returns the name of an operation's page, as the site names it: `get-report-v-0` for `getReportV0`. */
function getOperationPageName(operationId: string): string {
  return operationId
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .replace(/([A-Za-z])(\d)/g, "$1-$2")
    .toLowerCase();
}

/** Returns the anchor that the site gives a heading without its own. */
function createAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
}

/** Returns a line of MDX without markup; an empty text for an import or a separator of a table. */
function toPlainText(line: string): string {
  if (/^(?:import|export) /.test(line) || /^\|[\s:|-]+\|$/.test(line)) return "";
  return line
    .replace(/<\/?[A-Za-z][^>]*>/g, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/`|\*\*/g, "")
    .replace(/(?<!\S)\*([^*]+)\*/g, "$1")
    .replace(/^\s*\|\s*|\s*\|\s*$/g, "")
    .replace(/\s*(?<!\\)\|\s*/g, " – ")
    .replace(/\s+/g, " ")
    .trim();
}

/** Joins lines into texts of at most `maxPassageLength` characters. Splits a longer line between words. */
function splitText(lines: string[]): string[] {
  const texts: string[] = [];
  const words = lines.map((line) => `${line}\n`).flatMap((line) => line.match(/\S+\s*/g) ?? []);
  for (const word of words) {
    const current = texts.at(-1);
    if (current !== undefined && current.length + word.trimEnd().length <= maxPassageLength)
      texts[texts.length - 1] = current + word;
    else texts.push(word);
  }
  return texts.map((text) => text.trim());
}
