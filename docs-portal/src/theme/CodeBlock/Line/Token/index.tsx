import type { Props } from "@theme/CodeBlock/Line/Token";
import Token from "@theme-original/CodeBlock/Line/Token";
import type { ReactNode } from "react";

/** Renders a token of code. The line may wrap before a token that never wraps inside. */
export default function CodeBlockToken(props: Props): ReactNode {
  const { types, content } = props.token;
  return (
    <>
      {types.includes("unbroken") && !content.startsWith(" ") && <wbr />}
      <Token {...props} />
    </>
  );
}
