import CodeBlock from "@theme/CodeBlock";
import type { ReactNode } from "react";
import { formatJsonExcerpt } from "./excerpt.ts";

interface Props {
  of: { headers: Record<string, string | undefined>; body: unknown };
  only?: string[];
  maxItems?: number;
}

/** Renders a webhook message with its headers, as an endpoint receives it. */
export function WebhookMessageCodeBlock({ of: { headers, body }, only, maxItems }: Props): ReactNode {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <CodeBlock language="json" title="POST to your endpoint">
      {`${lines.join("\n")}\n\n${formatJsonExcerpt(body, { only, maxItems })}`}
    </CodeBlock>
  );
}
