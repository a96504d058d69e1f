import type { Props } from "@theme/CodeBlock/Line/Token";
import Token from "@theme-original/CodeBlock/Line/Token";
import type { ReactNode } from "react";
import { isUnbreakable } from "../unbreakable.ts";

/** Renders a token of code. The line may wrap before a token that never wraps inside. */
export default function CodeBlockToken(props: Props): ReactNode {
  const { content } = props.token;
  if (!isUnbreakable(content)) return <Token {...props} />;
  return (
    <>
      {!content.startsWith(" ") && <wbr />}
      <Token {...props} className={`${props.className} unbroken`} />
    </>
  );
}
