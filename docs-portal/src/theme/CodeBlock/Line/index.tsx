import type { Props } from "@theme/CodeBlock/Line";
import Line from "@theme-original/CodeBlock/Line";
import type { CSSProperties, ReactNode } from "react";

type Token = Props["line"][number];

/** Renders a line of code. If the line wraps, its other parts start two columns to the right of its first word. */
export default function CodeBlockLine({ line, getLineProps, ...props }: Props): ReactNode {
  const indentation = /^ */.exec(line.map(({ content }) => content).join(""))?.[0].length ?? 0;
  return (
    <Line
      {...props}
      line={joinBackslash(line)}
      getLineProps={(input) => {
        const lineProps = getLineProps(input);
        if (indentation === 0) return lineProps;
        return { ...lineProps, style: { ...lineProps.style, "--indentation": indentation } as CSSProperties };
      }}
    />
  );
}

/** Joins the backslash that continues a command and the space before it, so that the backslash never wraps alone. */
function joinBackslash(line: Token[]): Token[] {
  const [space, backslash] = line.slice(-2);
  if (space?.content !== " " || backslash?.content !== "\\") return line;
  return [...line.slice(0, -2), { ...backslash, content: " \\" }];
}
