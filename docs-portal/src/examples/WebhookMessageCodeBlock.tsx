import CodeBlock from "@theme/CodeBlock";
import type { ReactNode } from "react";
import { formatJsonExcerpt } from "./excerpt.ts";

interface Props {
  of: { headers: Record<string, string | undefined>; body: unknown };
  /** The paths of the fields to show, such as `meta.id`. Default: all fields. */
  only?: string[];
  /** Maximum number of items to show in each list. */
  maxItems?: number;
  /** Whether to show only the body. */
  bodyOnly?: boolean;
}

/** Renders a webhook message, or only its body, as an endpoint receives it. */
export function WebhookMessageCodeBlock({ of: { headers, body }, only, maxItems, bodyOnly = false }: Props): ReactNode {
  const json = formatJsonExcerpt(body, { only, maxItems });
  if (bodyOnly) return <CodeBlock language="json">{json}</CodeBlock>;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <div className="exchange">
      <CodeBlock language="http" title="POST to your endpoint">
        {lines.join("\n")}
      </CodeBlock>
      <CodeBlock language="json" title="Body">
        {json}
      </CodeBlock>
    </div>
  );
}
