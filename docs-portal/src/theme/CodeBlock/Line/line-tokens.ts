import type { Props } from "@theme/CodeBlock/Line";

export type Token = Props["line"][number];

/** The maximum length of a word that never wraps inside, so that it fits on a line of a phone. */
const maxUnbrokenLength = 40;
const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-";
/**
 * The places inside a URL where a line may wrap: after a slash, an underscore or the name of a parameter with an ID,
 * and before a parameter or a fragment. The origin stays whole, because the server replaces it.
 */
const urlBreakOpportunity = new RegExp(`(?<=[^:/]/)(?=[\\w<{])|(?<=[a-z]_)(?=[a-z])|(?=[?&#][\\w])|(?<==)(?=${uuid})`);
/** The origins that `installation-urls.mjs` can replace, and those with which it can replace them. */
const originPattern = /https?:\/\/[A-Za-z0-9.:[\]-]+/g;

/** Returns the tokens of a line, of which those of the type `unbroken` never wrap inside. */
export function splitLine(line: Token[]): Token[] {
  return joinSpaces(joinBackslash(joinOrigins(line).flatMap(splitToken)));
}

export function isUnbroken({ types }: Token): boolean {
  return types.includes("unbroken");
}

/**
 * Puts each origin into one token. In the default of a shell variable, Prism splits it at colons and slashes: the server
 * would not find it in the HTML, but would in the script, so that the text of the page would change when it becomes
 * interactive.
 */
function joinOrigins(line: Token[]): Token[] {
  const text = line.map(({ content }) => content).join("");
  const origins = [...text.matchAll(originPattern)].map(({ 0: origin, index }) => ({
    start: index,
    end: index + origin.length,
  }));
  if (origins.length === 0) return line;
  const joined: Token[] = [];
  let position = 0;
  for (const token of line) {
    const start = position;
    position += token.content.length;
    const previous = joined.at(-1);
    // An origin that began in an earlier token continues in this one.
    const begun = origins.find((origin) => origin.start < start && start < origin.end);
    if (!previous || !begun) {
      joined.push(token);
      continue;
    }
    const length = Math.min(begun.end, position) - start;
    joined.splice(-1, 1, { ...previous, content: previous.content + token.content.slice(0, length) });
    if (length < token.content.length) joined.push({ ...token, content: token.content.slice(length) });
  }
  return joined;
}

function splitToken(token: Token): Token[] {
  return token.content.includes("://") ? splitUrl(token) : splitWords(token);
}

function splitUrl(token: Token): Token[] {
  return token.content.split(urlBreakOpportunity).map((content) => {
    const part = { ...token, content };
    return content.includes("://") || /\s/.test(content) || content.length > maxUnbrokenLength ? part : keepWhole(part);
  });
}

/** Splits IDs, dates, options and names with hyphens from the other words of a token. */
function splitWords(token: Token): Token[] {
  return token.content
    .split(/(\S*-\S*)/)
    .filter((content) => content !== "")
    .map((content) => {
      const part = { ...token, content };
      return /^(?=\S*-)(?=.*\w)\S+$/.test(content) && content.length <= maxUnbrokenLength ? keepWhole(part) : part;
    });
}

/** Joins the backslash that continues a command to the end of the word before it, so that it never wraps alone. */
function joinBackslash(line: Token[]): Token[] {
  const filled = line.filter(({ content }) => content !== "");
  const [word, space, backslash] = filled.slice(-3);
  if (word === undefined || space?.content !== " " || backslash?.content !== "\\") return line;
  const [end = ""] = isUnbroken(word) ? [word.content] : (/[\w.<>{}=-]{1,38}\/?['"]?$/.exec(word.content) ?? []);
  const parts = [
    { ...word, content: word.content.slice(0, word.content.length - end.length) },
    keepWhole({ ...word, content: end }),
    keepWhole({ ...backslash, content: " \\" }),
  ];
  return [...filled.slice(0, -3), ...parts.filter(({ content }) => content !== "")];
}

/** Joins spaces and punctuation to the token before them if they look the same, so that pages have fewer elements. */
function joinSpaces(line: Token[]): Token[] {
  const joined: Token[] = [];
  for (const token of line) {
    const previous = joined.at(-1);
    if (previous && looksTheSame(previous, token))
      joined.splice(-1, 1, { ...previous, content: previous.content + token.content });
    else joined.push(token);
  }
  return joined;
}

function looksTheSame(previous: Token, token: Token): boolean {
  if (isUnbroken(previous) || isUnbroken(token)) return false;
  return token.content.trim() === "" || (isPunctuation(previous) && isPunctuation(token));
}

function isPunctuation({ types }: Token): boolean {
  return types.length === 1 && (types[0] === "punctuation" || types[0] === "operator");
}

function keepWhole(token: Token): Token {
  return isUnbroken(token) ? token : { ...token, types: [...token.types, "unbroken"] };
}
