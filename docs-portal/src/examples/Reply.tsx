import CodeBlock from "@theme/CodeBlock";
import type { ReactNode } from "react";
import { excerpt } from "./excerpt.ts";
import type { Exchange } from "./exchange.ts";

interface Props {
  of: Exchange;
  /** The fields that are shown, by their paths; all unless given. */
  only?: string[];
  /** Items of each list that are shown. */
  most?: number;
  /** Headers that are shown. */
  headers?: string[];
}

const reasons: Record<number, string> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  422: "Unprocessable Content",
  429: "Too Many Requests",
};

/** What the API answered, or an excerpt of it. */
export function Reply({ of: { reply }, only, most, headers = [] }: Props): ReactNode {
  const lines = headers.map((name) => `${name}: ${reply.headers[name]}`);
  const parts = [lines.join("\n"), reply.body === null ? "" : excerpt(reply.body, { only, most })];
  const text = parts.filter((part) => part !== "").join("\n\n");
  return (
    <CodeBlock language="json" title={`${reply.status} ${reasons[reply.status] ?? ""}`}>
      {text === "" ? "(no body)" : text}
    </CodeBlock>
  );
}
