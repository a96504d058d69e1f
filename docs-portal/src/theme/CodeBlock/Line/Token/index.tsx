import type { Props } from "@theme/CodeBlock/Line/Token";
import Token from "@theme-original/CodeBlock/Line/Token";
import type { ReactNode } from "react";

/**
 * Renders a token of code. The line may wrap before a token that never wraps inside. Plain text needs no element: pages
 * with much code would have thousands more.
 */
export default function CodeBlockToken(props: Props): ReactNode {
  const { types, content } = props.token;
  if (types.every((type) => type === "plain")) return content;
  return (
    <>
      {types.includes("unbroken") && !content.startsWith(" ") && <wbr />}
      <Token {...props} />
    </>
  );
}
