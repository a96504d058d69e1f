import type { Props } from "@theme/CodeBlock/Line";
import Line from "@theme-original/CodeBlock/Line";
import type { CSSProperties, ReactNode } from "react";

type Token = Props["line"][number];

/**
 * Renders a line of code. If the line wraps, its other parts start two columns to the right of its first word. If the
 * line contains tabs, the values between them are cells of a table.
 */
export default function CodeBlockLine({ line, getLineProps, ...props }: Props): ReactNode {
  const text = line.map(({ content }) => content).join("");
  const hasTabs = text.includes("\t");
  const tokens = hasTabs ? splitAtTabs(text) : joinBackslash(line.flatMap(splitUrl)).map(markUnbroken);
  const indentation = /^ */.exec(text)?.[0].length ?? 0;
  const longest = Math.max(0, ...tokens.filter(isUnbroken).map(({ content }) => content.length));
  const measures = { "--indentation": indentation, "--longest-word": longest } as CSSProperties;
  return (
    <Line
      {...props}
      line={tokens}
      getLineProps={(input: Parameters<typeof getLineProps>[0]) => {
        const { className, style, ...others } = getLineProps(input);
        return {
          ...others,
          className: hasTabs ? `${className} tab-separated` : className,
          style: indentation === 0 ? style : { ...style, ...measures },
        } as ReturnType<typeof getLineProps>;
      }}
    />
  );
}

function splitAtTabs(text: string): Token[] {
  return text.split("\t").map((content) => ({ types: ["plain"], content }));
}

/** Splits a URL before its query parameters and IDs. The origin is not split, because the server replaces it. */
function splitUrl(token: Token): Token[] {
  if (!token.content.includes("://")) return [token];
  return token.content.split(/(?=[?&])|(?<=\/)(?=[0-9a-f]{8}-)/).map((content) => ({ ...token, content }));
}

/** Joins the backslash that continues a command to the end of the word before it, so that it never wraps alone. */
function joinBackslash(line: Token[]): Token[] {
  const filled = line.filter(({ content }) => content !== "");
  const [word, space, backslash] = filled.slice(-3);
  if (word === undefined || space?.content !== " " || backslash?.content !== "\\") return line;
  const [end = ""] = /[/?&=]?[\w.<>-]{1,38}\/?['"]?$/.exec(word.content) ?? [];
  const parts = [
    { ...word, content: word.content.slice(0, word.content.length - end.length) },
    { types: [...word.types, "unbroken"], content: end },
    { types: [...backslash.types, "unbroken"], content: " \\" },
  ];
  return [...filled.slice(0, -3), ...parts.filter(({ content }) => content !== "")];
}

/** Marks an ID, a date or a name with hyphens, so that it never wraps inside. */
function markUnbroken(token: Token): Token {
  const isShort = /^(?=\S*-)(?!.*:\/\/)\S{1,40}$/.test(token.content);
  return isShort && !isUnbroken(token) ? { ...token, types: [...token.types, "unbroken"] } : token;
}

function isUnbroken({ types }: Token): boolean {
  return types.includes("unbroken");
}
