import type { ReactNode } from "react";
import { CodeSamples } from "../try-it/CodeSamples.tsx";
import type { Exchange } from "./exchange.ts";

/** Where the examples say that the API is. */
const shownUrl = "http://127.0.0.1:4000";

/** A request of an example, in every language. */
export function Request({ of: { request, reply } }: { of: Exchange }): ReactNode {
  if (request === undefined) return null;
  const { method, path, body } = request;
  const headers = Object.entries(request.headers).filter((header): header is [string, string] => !!header[1]);
  return (
    <CodeSamples
      request={{
        method,
        url: `${shownUrl}${path}`,
        headers: { ...Object.fromEntries(headers), ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body, null, 2) }),
      }}
      replies={reply.body === null ? "nothing" : "json"}
    />
  );
}
