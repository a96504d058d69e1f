import type { OpenApiDocument, OpenApiSchemaObject } from "../markdown-copies/openapi-document.ts";
import type { ReferencePage } from "../markdown-copies/reference-pages.ts";
import { type NewSearchEntry, shorten } from "./page-entries.ts";

/** A field at a place where it occurs. */
interface FieldOccurrence {
  name: string;
  description: string;
  page: ReferencePage;
  /** The path within the body, such as `orderList.productList`. Empty for a parameter and a top-level field. */
  parents: string[];
  /** A parameter or a part of the response is easier to understand than a deep part of a request body. */
  rank: number;
}

export function createOperationEntries(pages: ReferencePage[]): NewSearchEntry[] {
  return pages.map(({ url, method, path, operation: { operationId, summary, description, tags } }) => ({
    kind: "operation",
    title: summary,
    place: `${method} ${path}`,
    url,
    excerpt: shorten(description ?? ""),
    names: `${path} ${operationId} ${tags.join(" ")}`,
    text: description ?? "",
  }));
}

/** Returns the ids of the elements on a page, in the sequence of the page. */
export type PageElementIds = (url: string) => string[];

/**
 * Returns an entry for each field and parameter. Fields with the same name and description are one entry, which leads to
 * the operation in which the field is easiest to find.
 */
export function createFieldEntries(
  document: OpenApiDocument,
  pages: ReferencePage[],
  idsOf: PageElementIds,
): NewSearchEntry[] {
  const best = new Map<string, FieldOccurrence>();
  for (const occurrence of pages.flatMap((page) => listFields(document, page))) {
    const key = `${occurrence.name}\n${occurrence.description}`;
    const known = best.get(key);
    if (known === undefined || occurrence.rank < known.rank) best.set(key, occurrence);
  }
  return [...best.values()].map(({ name, description, page, parents }) => ({
    kind: "field",
    title: name,
    place: [...(parents.length > 0 ? [parents.join(".")] : []), page.operation.summary].join(" · "),
    url: `${page.url}#${findFieldId(idsOf(page.url), [...parents, name])}`,
    excerpt: shorten(description),
    names: "",
    text: description,
  }));
}

/**
 * Returns the id of a field on a page, such as `body.orderList.price`. A page lists the fields of an object only once, so
 * the id can have other parents.
 *
 * @throws Error if the page does not contain the field.
 */
function findFieldId(ids: string[], path: string[]): string {
  const name = path.at(-1) ?? "";
  const candidates = ids.filter((id) => id.split(".").at(-1) === name && id !== name);
  const suffix = `.${path.join(".")}`;
  const id = candidates.find((candidate) => candidate.endsWith(suffix)) ?? candidates[0];
  if (id === undefined) throw new Error(`The page does not contain the field ${path.join(".")}.`);
  return id;
}

function listFields(document: OpenApiDocument, page: ReferencePage): FieldOccurrence[] {
  const { operation, url } = page;
  const { parameters = [], requestBody, responses } = operation;
  const isLegacy = operation.deprecated === true || /-v-[01]$|legacy/.test(url);
  const base = (isLegacy ? 100 : 0) + (url.startsWith("/api/receive-") ? 20 : 0);
  const found: FieldOccurrence[] = parameters.map(({ name, description = "" }) => ({
    name,
    description,
    page,
    parents: [],
    rank: base,
  }));
  const success = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const contents = [
    // A POS reads the reference for what it sends, and everybody else for what they receive.
    ...(requestBody ? [{ content: requestBody.content, rank: base + (url.includes("push-till") ? 0 : 5) }] : []),
    ...success.map(([, { content = {} }]) => ({ content, rank: base + (/\/list-/.test(url) ? 2 : 1) })),
  ];
  for (const { content, rank } of contents)
    for (const { schema } of Object.values(content))
      if (schema) visitFields(document, schema, { page, rank, parents: [], seen: [], found });
  return found;
}

interface Visit extends Pick<FieldOccurrence, "page" | "rank" | "parents"> {
  seen: string[];
  found: FieldOccurrence[];
}

function visitFields(document: OpenApiDocument, schema: OpenApiSchemaObject, visit: Visit): void {
  const { $ref } = schema;
  if ($ref !== undefined && visit.seen.includes($ref)) return;
  const inner = $ref === undefined ? visit : { ...visit, seen: [...visit.seen, $ref] };
  const { properties = {}, items, allOf = [], anyOf = [], oneOf = [] } = resolveSchema(document, schema);
  for (const [name, field] of Object.entries(properties)) {
    const description = field.description ?? resolveSchema(document, field).description ?? "";
    const { page, rank, parents } = inner;
    inner.found.push({ name, description, page, parents, rank: rank + 3 * parents.length });
    visitFields(document, field, { ...inner, parents: [...parents, name] });
  }
  for (const part of [...(items ? [items] : []), ...allOf, ...anyOf, ...oneOf]) visitFields(document, part, inner);
}

function resolveSchema(document: OpenApiDocument, schema: OpenApiSchemaObject): OpenApiSchemaObject {
  const name = schema.$ref?.replace("#/components/schemas/", "");
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}
