import type { Props } from "@theme/CodeBlock/Line/Token";
import Token from "@theme-original/CodeBlock/Line/Token";
import type { ReactNode } from "react";

/** An ID, a date or a name with hyphens, or the backslash that continues a command, and the space before it. */
const unbreakable = /^(?=\S*-)\S{1,40}$|^\s\\$/;

/** Renders a token of code. A short value that contains hyphens never wraps inside. */
export default function CodeBlockToken(props: Props): ReactNode {
  const { className, token } = props;
  return <Token {...props} className={unbreakable.test(token.content) ? `${className} unbroken` : className} />;
}
