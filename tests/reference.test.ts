import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { describe, expect, it } from "vitest";

/*
 * Compares the pages that the build of the site wrote with the OpenAPI documents. The pages must contain everything
 * without JavaScript.
 */

const repositoryFolder = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")), "..");
const portalFolder = join(repositoryFolder, "docs-portal");

interface OpenApiDocument {
  components: { schemas: Record<string, Schema> };
}

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string }[];
  requestBody?: MediaHolder;
  responses: Record<string, MediaHolder>;
}

interface MediaHolder {
  description: string;
  content?: Record<string, { schema?: Schema }>;
}

interface Schema {
  $ref?: string;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
}

const readDocument = (name: string) => JSON.parse(readFileSync(join(repositoryFolder, "contracts", name), "utf8"));
const { listReferencePages } = await import(
  pathToFileURL(join(portalFolder, "plugins", "markdown-copies", "reference-pages.ts")).href
);
const [, commonErrorsSection = ""] = readFileSync(join(portalFolder, "docs", "errors.mdx"), "utf8").split(
  "{#common-errors}",
);
const commonErrorCodes = [...commonErrorsSection.matchAll(/^\| \d+ \| \[`(\w+)`\]/gm)].map(([, code = ""]) => code);
const listPages = (document: OpenApiDocument, folder: string) =>
  (listReferencePages(document, folder) as { url: string; operation: Operation }[]).map((page) => ({
    ...page,
    document,
  }));

const partnerPages = listPages(readDocument("openapi.json"), "/api");
const partnerOperations = new Set(partnerPages.map(({ operation }) => operation.operationId));
const operatorPages = listPages(readDocument("openapi.full.json"), "/operators").filter(
  ({ operation }) => !partnerOperations.has(operation.operationId),
);
const pages = [...partnerPages, ...operatorPages];

describe("a reference page without JavaScript", () => {
  it.each(pages)("contains every parameter and field: $url", ({ url, document, operation }) => {
    const { parameters = [], requestBody, responses } = operation;
    const bodies = [requestBody, ...successesOf(responses).map(([, response]) => response)];
    const names = new Set<string>();
    for (const body of bodies)
      for (const { schema } of Object.values(body?.content ?? {})) collectPropertyNames(document, schema, names);
    const ids = listIds(readPage(url));
    const shownNames = ids.filter((id) => /^(body|response-\w+)\./.test(id)).map((id) => id.split(".").at(-1));
    expect(new Set(shownNames)).toEqual(names);
    const places = parameters.map(({ in: place, name }) => `${place}.${name}`);
    expect(places.filter((place) => !ids.includes(place))).toEqual([]);
  });

  it.each(pages)("contains every success and an example: $url", ({ url, operation }) => {
    const html = readPage(url);
    const ids = listIds(html);
    for (const [status] of successesOf(operation.responses)) expect(ids).toContain(`response-${status}`);
    expect(html).toContain("<pre");
    expect(html).not.toMatch(/skeleton/i);
  });

  it.each(pages)("links each error, or the common errors: $url", ({ url, operation }) => {
    const [, section = ""] = readPage(url).split(/ id="?errors"?[ >]/);
    const linked = [...section.matchAll(/href="?\/docs\/errors#([\w-]+)/g)].map(([, code = ""]) => code);
    const documented = Object.values(operation.responses).flatMap(({ description }) =>
      [...description.matchAll(/^`(\w+)`:/gm)].map(([, code = ""]) => code),
    );
    const isCommon = commonErrorCodes.every((code) => documented.includes(code));
    const listed = isCommon
      ? [...documented.filter((code) => !commonErrorCodes.includes(code)), "common-errors"]
      : documented;
    expect(linked.toSorted()).toEqual(listed.toSorted());
  });

  it.each(pages)("has a different anchor for each field: $url", ({ url }) => {
    const ids = listIds(readPage(url)).filter((id) => id.includes("."));
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it("shows only limits and defaults that callers act on", () => {
    expect(readField("/api/list-reports", "query.size")).toMatch(/1 to 100 · default <code[^>]*>10<\/code>/);
    // The field accepts up to 1,024 characters, and its default is null.
    const companyName = readField("/api/push-till-v-2", "body.companyName");
    expect(companyName).toContain("companyName".slice(0, 7));
    expect(companyName).not.toMatch(/1,?024|characters|default/);
  });

  it("shows examples without invented values for optional fields", () => {
    expect(readPage("/api/list-reports")).not.toContain("&quot;string&quot;");
  });
});

describe("the page of all webhook messages without JavaScript", () => {
  const url = "/api/webhook-messages";
  const { operations, components } = readDocument("asyncapi.json");
  const { WebhookMessageHeaders: headers, ...schemas } = components.schemas;
  const events = Object.keys(components.messages);

  it("has a section with all fields and an example for each event", () => {
    const sections = readPage(url).split("<h3 ").slice(1);
    for (const [index, event] of events.entries()) {
      const section = sections[index] ?? "";
      const anchor = event.replaceAll(".", "-");
      expect(listIds(` ${section}`)[0]).toBe(anchor);
      const ids = new Set(listIds(section));
      for (const field of ["meta", "meta.id", "meta.event", "meta.sequence", "data"])
        expect(ids).toContain(`${anchor}.${field}`);
      expect(section).toContain(`href=/docs/webhook-events#${anchor}`);
      expect([...section.matchAll(/<pre/g)]).toHaveLength(2);
    }
  });

  it("describes each header and each property of each schema", () => {
    const ids = listIds(readPage(url)).filter((id) => id.includes("."));
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    const names = new Set<string>();
    for (const schema of Object.values<Schema>(schemas))
      collectPropertyNames({ components: { schemas } }, schema, names);
    for (const name of Object.keys(headers.properties)) expect(ids).toContain(`header.${name}`);
    expect(new Set(ids.flatMap((id) => (id.startsWith("header.") ? [] : [id.split(".").at(-1)])))).toEqual(names);
  });

  it("is linked from the webhooks guide and the sidebar, and has each operation and a copy as Markdown", () => {
    for (const page of ["/docs/webhooks", "/docs/webhook-events", "/api/receive-test"])
      expect(readPage(page)).toMatch(/href="?\/api\/webhook-messages[" >]/);
    const html = readPage(url);
    for (const operation of Object.keys(operations)) expect(html.replaceAll("<wbr/>", "")).toContain(operation);
    const markdown = readMarkdown(url);
    for (const event of events) expect(markdown).toContain(`\n### ${event}\n`);
    expect(markdown).toContain("| `meta.sequence` | integer or null | yes |");
  });
});

describe("the Markdown copy of a reference page", () => {
  it("shows the default values of parameters and fields, except null", () => {
    expect(readMarkdown("/api/list-reports")).toMatch(/^\| `size` .* 1 to 100, default 10 \|/m);
    const till = readMarkdown("/api/push-till-v-2");
    expect(till).toMatch(/^- `isTraining` \(boolean, default false\)/m);
    expect(till).toMatch(/^ +- `groupedTableInfo` \(list of object, default \[\]\)/m);
    expect(till).toMatch(/^- `companyName` \(string or null\)/m);
  });
});

describe("the first page of a reference", () => {
  it.each([
    { url: "/api/", listed: partnerPages },
    { url: "/operators/", listed: operatorPages },
  ])("links each operation once: $url", ({ url, listed }) => {
    const article = /<article.*<\/article>/s.exec(readPage(url))?.[0] ?? "";
    for (const page of listed) expect(article.split(`href=${page.url}>`), page.url).toHaveLength(2);
  });

  it("has the legacy operations last in the sidebar, and folds only them", () => {
    const groups = [
      ...readPage("/api/").matchAll(/aria-expanded=(true|false) [^>]*><span class=categoryLink[^>]*>([^<]*)/g),
    ];
    const folded = groups.flatMap(([, isExpanded, label]) => (isExpanded === "false" ? [label] : []));
    expect(groups.length).toBeGreaterThan(5);
    expect(groups.at(-1)?.[2]).toBe("Legacy");
    expect(folded).toEqual(["Legacy"]);
  });
});

const readPage = (url: string) => readBuiltFile(`${url}/index.html`);
const readMarkdown = (url: string) => readBuiltFile(`${url}.md`);

function readBuiltFile(path: string): string {
  const file = join(portalFolder, "build", path);
  if (!existsSync(file)) throw new Error(`${file} does not exist. Build the site: node docs-portal/build.mjs`);
  return readFileSync(file, "utf8");
}

/** Returns the HTML of a field, up to the next field. */
function readField(url: string, id: string): string {
  const [, field = ""] = readPage(url).split(new RegExp(`<li id="?${id.replace(".", "\\.")}"?[ >]`));
  return field.split("<li ")[0] ?? "";
}

function listIds(html: string): string[] {
  return [...html.matchAll(/ id="?([^\s">]+)/g)].map(([, id = ""]) => id);
}

function successesOf(responses: Operation["responses"]): [status: string, response: MediaHolder][] {
  return Object.entries(responses).filter(([status]) => !/^[45]/.test(status));
}

function collectPropertyNames(
  document: OpenApiDocument,
  schema: Schema | undefined,
  names: Set<string>,
  seen = new Set<string>(),
): void {
  if (schema === undefined) return;
  const { $ref, items, anyOf = [], oneOf = [], properties = {}, additionalProperties } = schema;
  const parts = [items, ...anyOf, ...oneOf, ...Object.values(properties)];
  if (typeof additionalProperties === "object") parts.push(additionalProperties);
  if ($ref !== undefined && !seen.has($ref)) {
    seen.add($ref);
    parts.push(document.components.schemas[$ref.replace("#/components/schemas/", "")]);
  }
  for (const name of Object.keys(properties)) names.add(name);
  for (const part of parts) collectPropertyNames(document, part, names, seen);
}
