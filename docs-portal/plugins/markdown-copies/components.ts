import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Code, PhrasingContent, RootContent } from "mdast";
import type { MdxJsxFlowElement, MdxJsxTextElement } from "mdast-util-mdx-jsx";
import { formatJsonExcerpt } from "../../src/examples/excerpt.ts";
import type { ExampleHttpExchange } from "../../src/examples/exchange.ts";
import { formatEuroAmount } from "../../src/money/format-amount.ts";
import { codeSampleLanguages } from "../../src/try-it/samples/samples.ts";

type Element = MdxJsxFlowElement | MdxJsxTextElement;

export function isMdxJsxElement(node: { type: string }): node is Element {
  return node.type === "mdxJsxFlowElement" || node.type === "mdxJsxTextElement";
}

/** Returns the label of a tab, which precedes the content of the tab. */
export function createTabLabel({ attributes }: Element): RootContent {
  const readText = (name: string) => attributes.find((each) => "name" in each && each.name === name)?.value;
  const label = String(readText("label") ?? readText("value") ?? "");
  return { type: "paragraph", children: [{ type: "strong", children: [{ type: "text", value: label }] }] };
}

/** Returns the link that replaces an `<a>` element, such as the link of a download. */
export function createLink(
  { attributes }: Element,
  content: RootContent[],
  absolute: (path: string) => string,
): RootContent {
  const href = attributes.find((each) => "name" in each && each.name === "href")?.value;
  const url = typeof href === "string" ? href : "";
  return { type: "link", url: url.startsWith("/") ? absolute(url) : url, children: content as PhrasingContent[] };
}

/** The functions that render the MDX components as Markdown, by component name. */
export type MarkdownRenderersByComponent = Record<
  string,
  (element: Element, evaluate: (expression: string) => unknown) => RootContent[]
>;

/** Returns the rendering functions. `portal` is the folder of the site. `server` is the URL of the API in examples. */
export function createMarkdownRenderersByComponent(portal: string, server: string): MarkdownRenderersByComponent {
  return {
    RequestCodeSamples(element, evaluate) {
      const { request, reply: response } = readAttribute(element, "of", evaluate) as ExampleHttpExchange;
      if (request === undefined) return [];
      const { method, path, body } = request;
      const headers = Object.entries(request.headers).map(([name, value]) => [name, value ?? ""]);
      const bodyField = body === undefined ? {} : { body: JSON.stringify(body, null, 2) };
      const contentType = body === undefined ? {} : { "content-type": "application/json" };
      const shown = {
        method,
        url: `${server}${path}`,
        headers: { ...Object.fromEntries(headers), ...contentType },
        ...bodyField,
      };
      const printedHeaders = (readAttribute(element, "headers", evaluate) ?? []) as string[];
      const responseKind = response.body === null && response.status !== 304 ? "empty" : "json";
      return codeSampleLanguages.flatMap(({ label, highlight, write }) => [
        createParagraph(`${label}:`),
        createCodeBlock(highlight, write({ request: shown, responseKind, printedHeaders })),
      ]);
    },
    ResponseCodeBlock(element, evaluate) {
      const { reply: response } = readAttribute(element, "of", evaluate) as ExampleHttpExchange;
      const names = (readAttribute(element, "headers", evaluate) ?? []) as string[];
      const headers = names.map((name) => `${name}: ${response.headers[name]}`).join("\n");
      const status = `Response, ${response.status}${response.body === null ? ", without a body" : ""}`;
      const blocks = [
        ...(headers === "" ? [] : [createCodeBlock("http", headers)]),
        ...(response.body === null
          ? []
          : typeof response.body === "string"
            ? [createCodeBlock("text", response.body.trimEnd())]
            : [createCodeBlock("json", formatJsonExcerpt(response.body, readExcerptOptions(element, evaluate)))]),
      ];
      return [createParagraph(blocks.length === 0 ? `${status}.` : `${status}:`), ...blocks];
    },
    WebhookMessageCodeBlock(element, evaluate) {
      const { headers, body } = readAttribute(element, "of", evaluate) as { headers: object; body: unknown };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      return [
        createCodeBlock(
          "http",
          `${lines.join("\n")}\n\n${formatJsonExcerpt(body, readExcerptOptions(element, evaluate))}`,
        ),
      ];
    },
    MoneyAmountView(element, evaluate) {
      const amount = readAttribute(element, "of", evaluate) as number;
      return [{ type: "text", value: `${amount} is ${formatEuroAmount(amount)}` }];
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
      const title = readAttribute(element, "title", evaluate);
      const block = createCodeBlock(String(readAttribute(element, "language", evaluate) ?? ""), String(text));
      return title === undefined ? [block] : [createParagraph(`${title}:`), block];
    },
  };
}

function readExcerptOptions(element: Element, evaluate: (expression: string) => unknown) {
  return {
    only: readAttribute(element, "only", evaluate) as string[] | undefined,
    maxItems: readAttribute(element, "maxItems", evaluate) as number | undefined,
  };
}

function readAttribute(element: Element, name: string, evaluate: (expression: string) => unknown): unknown {
  const attribute = element.attributes.find((each) => each.type === "mdxJsxAttribute" && each.name === name);
  const value = attribute?.value;
  return typeof value === "object" && value !== null ? evaluate(value.value) : (value ?? undefined);
}

function createParagraph(text: string): RootContent {
  return { type: "paragraph", children: [{ type: "text", value: text }] };
}

function createCodeBlock(lang: string, value: string): Code {
  return { type: "code", lang, value };
}
