import type { ReactNode } from "react";
import { useSandbox } from "../sandbox/use-sandbox.ts";
import { CodeSamples } from "../try-it/CodeSamples.tsx";
import { type ExampleHttpExchange, exampleApiUrl } from "./exchange.ts";
import { moveDaysToSandbox } from "./sandbox-days.ts";

interface Props {
  of: ExampleHttpExchange;
  /** The names of the response headers that the samples print. Default: none. */
  headers?: string[];
}

/**
 * Renders the request of an example in every sample language. Once the reader has created a sandbox, the request is about
 * days of this sandbox, because it has no data of the days of the examples.
 */
export function RequestCodeSamples({ of: { request, reply: response }, headers: printedHeaders }: Props): ReactNode {
  const [sandbox] = useSandbox();
  if (request === undefined) return null;
  const { method, path, body } = request;
  const headers = Object.entries(request.headers).filter((header): header is [string, string] => !!header[1]);
  return (
    <CodeSamples
      request={{
        method,
        url: `${exampleApiUrl}${sandbox ? moveDaysToSandbox(path, sandbox.createdAt) : path}`,
        headers: { ...Object.fromEntries(headers), ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body, null, 2) }),
      }}
      // The body of a response with the status 304 is absent only if nothing has changed.
      responseKind={response.body === null && response.status !== 304 ? "empty" : "json"}
      {...(printedHeaders !== undefined && { printedHeaders })}
    />
  );
}
