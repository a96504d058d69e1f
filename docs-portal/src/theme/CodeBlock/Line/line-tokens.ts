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

/** Returns the tokens of a line, of which those of the type `unbroken` never wrap inside. */
export function splitLine(line: Token[]): Token[] {
  return joinSpaces(joinBackslash(line.flatMap(splitToken)));
}

export function isUnbroken({ types }: Token): boolean {
  return types.includes("unbroken");
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
