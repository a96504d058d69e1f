import type { Props } from "@theme/CodeBlock/Line";
import Line from "@theme-original/CodeBlock/Line";
import type { CSSProperties, ReactNode } from "react";
import { isUnbroken, splitLine, type Token } from "./line-tokens.ts";

/**
 * Renders a line of code. If the line wraps, its other parts start two columns to the right of its first word. If the
 * line contains tabs, the values between them are cells of a table.
 */
export default function CodeBlockLine({ line, getLineProps, ...props }: Props): ReactNode {
  const text = line.map(({ content }) => content).join("");
  const hasTabs = text.includes("\t");
  const tokens = hasTabs ? splitAtTabs(text) : separateIndentation(splitLine(line));
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

/** Gives the spaces at the start of a line their own token, which is narrower on phones. */
function separateIndentation(tokens: Token[]): Token[] {
  const [first, ...others] = tokens.filter(({ content }) => content !== "");
  if (first === undefined) return tokens;
  const [spaces = ""] = /^ +/.exec(first.content) ?? [];
  if (spaces === "") return tokens;
  const rest = { ...first, content: first.content.slice(spaces.length) };
  return [{ types: ["plain", "indentation"], content: spaces }, ...(rest.content === "" ? [] : [rest]), ...others];
}
