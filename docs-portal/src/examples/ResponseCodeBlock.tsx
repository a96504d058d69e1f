import CodeBlock from "@theme/CodeBlock";
import type { ReactNode } from "react";
import { formatJsonExcerpt } from "./excerpt.ts";
import type { ExampleHttpExchange } from "./exchange.ts";

interface Props {
  of: ExampleHttpExchange;
  /** The paths of the fields to show, such as `meta.totalCount`. Default: all fields. */
  only?: string[];
  /** Maximum number of items to show in each list. */
  maxItems?: number;
  /** The names of the response headers to show. Default: none. */
  headers?: string[];
}

const reasonPhrases: Record<number, string> = {
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
  412: "Precondition Failed",
  422: "Unprocessable Content",
  429: "Too Many Requests",
};

/** Renders the response of an example, or only some of its fields and items. */
export function ResponseCodeBlock({ of: { reply: response }, only, maxItems, headers = [] }: Props): ReactNode {
  const lines = headers.map((name) => `${name}: ${response.headers[name]}`);
  const { body } = response;
  const isText = typeof body === "string";
  const shownBody = isText ? body.trimEnd() : body === null ? "" : formatJsonExcerpt(body, { only, maxItems });
  const parts = [lines.join("\n"), shownBody];
  const text = parts.filter((part) => part !== "").join("\n\n");
  const statusClass = response.status < 400 ? "response-status" : "response-status response-status--error";
  const status = (
    <span className={statusClass}>
      {response.status} {reasonPhrases[response.status]}
    </span>
  );
  return (
    <CodeBlock language={isText ? "text" : "json"} title={status}>
      {text === "" ? "(no body)" : text}
    </CodeBlock>
  );
}
