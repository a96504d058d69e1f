import CodeBlock from "@theme/CodeBlock";
import type { ReactNode } from "react";
import { buildCodeSampleRequestBody } from "./samples/sample.ts";

/** Renders the file from which the code samples read the request body, or nothing if they contain the body. */
export function RequestBodyExample({ body }: { body: string }): ReactNode {
  const sampleBody = buildCodeSampleRequestBody({ method: "", url: "", headers: {}, body });
  if (sampleBody === undefined || !("file" in sampleBody)) return null;
  return (
    <CodeBlock language="json" title={sampleBody.file}>
      {body}
    </CodeBlock>
  );
}
