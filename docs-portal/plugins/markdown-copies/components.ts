import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Code, RootContent } from "mdast";
import type { MdxJsxFlowElement, MdxJsxTextElement } from "mdast-util-mdx-jsx";
import { excerpt } from "../../src/examples/excerpt.ts";
import type { Exchange } from "../../src/examples/exchange.ts";
import { formatAmount } from "../../src/money/format-amount.ts";
import { curlSample } from "../../src/try-it/samples/curl.ts";

type Element = MdxJsxFlowElement | MdxJsxTextElement;

export function isElement(node: { type: string }): node is Element {
  return node.type === "mdxJsxFlowElement" || node.type === "mdxJsxTextElement";
}

/** What each component of a page shows, as Markdown. */
export type MarkdownComponents = Record<
  string,
  (element: Element, evaluate: (expression: string) => unknown) => RootContent[]
>;

/** The components of the pages of the site in this folder; requests are shown for the server at this address. */
export function createMarkdownComponents(portal: string, server: string): MarkdownComponents {
  return {
    Request(element, evaluate) {
      const { request } = readAttribute(element, "of", evaluate) as Exchange;
      if (request === undefined) return [];
      const { method, path, body } = request;
      const headers = Object.entries(request.headers).map(([name, value]) => [name, value ?? ""]);
      const sent = body === undefined ? {} : { body: JSON.stringify(body, null, 2) };
      const type = body === undefined ? {} : { "content-type": "application/json" };
      const shown = { method, url: `${server}${path}`, headers: { ...Object.fromEntries(headers), ...type }, ...sent };
      return [createCodeBlock("sh", curlSample({ request: shown, replies: "json" }))];
    },
    Reply(element, evaluate) {
      const { reply } = readAttribute(element, "of", evaluate) as Exchange;
      const names = (readAttribute(element, "headers", evaluate) ?? []) as string[];
      const headers = names.map((name) => `${name}: ${reply.headers[name]}`);
      const body = reply.body === null ? [] : [excerpt(reply.body, resolveChildren(element, evaluate))];
      return [
        createParagraph(`Reply, ${reply.status}:`),
        createCodeBlock("json", [...headers, ...body].join("\n") || "(no body)"),
      ];
    },
    Message(element, evaluate) {
      const { headers, body } = readAttribute(element, "of", evaluate) as { headers: object; body: unknown };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      return [createCodeBlock("http", `${lines.join("\n")}\n\n${excerpt(body, resolveChildren(element, evaluate))}`)];
    },
    Amount(element, evaluate) {
      const amount = readAttribute(element, "of", evaluate) as number;
      return [{ type: "text", value: `${amount} is ${formatAmount(amount)}` }];
    },
    Diagram(element, evaluate) {
      const source = readFileSync(join(portal, "diagrams", `${readAttribute(element, "name", evaluate)}.mmd`), "utf8");
      return [
        createParagraph(String(readAttribute(element, "alt", evaluate))),
        createCodeBlock("mermaid", source.trimEnd()),
      ];
    },
    CodeBlock(element, evaluate) {
      const [child] = element.children;
      const text = child && "value" in child ? evaluate(String(child.value)) : "";
      return [createCodeBlock(String(readAttribute(element, "language", evaluate) ?? ""), String(text))];
    },
  };
}

function resolveChildren(element: Element, evaluate: (expression: string) => unknown) {
  return {
    only: readAttribute(element, "only", evaluate) as string[] | undefined,
    most: readAttribute(element, "most", evaluate) as number | undefined,
  };
}

function readAttribute(element: Element, name: string, evaluate: (expression: string) => unknown): unknown {
  const found = element.attributes.find((each) => each.type === "mdxJsxAttribute" && each.name === name);
  const value = found?.value;
  return typeof value === "object" && value !== null ? evaluate(value.value) : (value ?? undefined);
}

function createParagraph(text: string): RootContent {
  return { type: "paragraph", children: [{ type: "text", value: text }] };
}

function createCodeBlock(lang: string, value: string): Code {
  return { type: "code", lang, value };
}
