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
  const indentation = /^ */.exec(text)?.[0].length ?? 0;
  const hasTabs = text.includes("\t");
  return (
    <Line
      {...props}
      line={hasTabs ? splitAtTabs(text) : joinBackslash(line)}
      getLineProps={(input) => {
        const { className, style, ...others } = getLineProps(input);
        return {
          ...others,
          className: hasTabs ? `${className} tab-separated` : className,
          style: indentation === 0 ? style : ({ ...style, "--indentation": indentation } as CSSProperties),
        } as ReturnType<typeof getLineProps>;
      }}
    />
  );
}

function splitAtTabs(text: string): Token[] {
  return text.split("\t").map((content) => ({ types: ["plain"], content }));
}

/** Joins the backslash that continues a command and the space before it, so that the backslash never wraps alone. */
function joinBackslash(line: Token[]): Token[] {
  const [space, backslash] = line.slice(-2);
  if (space?.content !== " " || backslash?.content !== "\\") return line;
  return [...line.slice(0, -2), { ...backslash, content: " \\" }];
}
