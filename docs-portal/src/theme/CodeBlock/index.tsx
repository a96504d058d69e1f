import type { Props } from "@theme/CodeBlock";
import CodeBlock from "@theme-original/CodeBlock";
import type { ReactNode } from "react";
import { moveDaysToSandbox } from "../../examples/sandbox-days.ts";
import { useSandbox } from "../../sandbox/use-sandbox.ts";

/** Renders code. Once the reader has created a sandbox, the shell commands of guides are about days of this sandbox. */
export default function CodeBlockWithSandboxDays({ children, ...props }: Props): ReactNode {
  const [sandbox] = useSandbox();
  const isCommand = props.className === "language-sh" && typeof children === "string";
  return (
    <CodeBlock {...props}>{isCommand && sandbox ? moveDaysToSandbox(children, sandbox.createdAt) : children}</CodeBlock>
  );
}
