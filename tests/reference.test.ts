import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { describe, expect, it } from "vitest";

const repositoryFolder = join(findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")), "..");
const portalFolder = join(repositoryFolder, "docs-portal");
const importReferenceModule = (name: string) => import(pathToFileURL(join(portalFolder, "reference", name)).href);
const { groupOperations, listOperations, operationPageId, parseReferenceDocument } =
  await importReferenceModule("document.mjs");
const { createOperationPage } = await importReferenceModule("operation-page.mjs");

interface DocumentedOperation {
  method: string;
  path: string;
  operation: { operationId: string; requestBody?: MediaHolder; responses: Record<string, MediaHolder> };
}

interface MediaHolder {
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

/** A field of a page, as `docs-portal/reference/fields.mjs` generates it. */
interface Field {
  id: string;
  name?: string;
  fields?: Field[];
  variants?: { fields: Field[] }[];
}

const document = parseReferenceDocument(readFileSync(join(repositoryFolder, "contracts", "openapi.json"), "utf8"));
const operations: DocumentedOperation[] = listOperations(document);
const pageOf = (documented: DocumentedOperation) => createOperationPage(document, documented);

describe("the data of a reference page", () => {
  it.each(operations)("contains every field of the bodies: $operation.operationId", (documented) => {
    const { requestBody, responses } = documented.operation;
    const successes = Object.entries(responses).filter(([status]) => !/^[45]/.test(status));
    const bodies = [requestBody, ...successes.map(([, response]) => response)];
    const expected = new Set<string>();
    for (const body of bodies)
      for (const { schema } of Object.values(body?.content ?? {})) collectPropertyNames(schema, expected, new Set());
    const page = pageOf(documented);
    const shown = [page.body, ...page.responses.map(({ body }: { body?: Field }) => body)]
      .filter((body) => body !== undefined)
      .flatMap(flattenFields)
      .flatMap(({ name }) => name ?? []);
    expect(new Set(shown)).toEqual(expected);
  });

  it("has a different anchor for each field", () => {
    for (const documented of operations) {
      const anchors = listFields(pageOf(documented)).map(({ id }) => id);
      expect(new Set(anchors).size, documented.operation.operationId).toBe(anchors.length);
    }
  });

  it("shows only limits and defaults that callers act on", () => {
    const limitsOf = (operationId: string, anchor: string) => {
      const documented = operations.find(({ operation }) => operation.operationId === operationId);
      return listFields(pageOf(documented as DocumentedOperation)).find(({ id }) => id === anchor);
    };
    expect(limitsOf("listReports", "query.size")).toMatchObject({
      limits: ["1 to 100", "default <code>10</code>"],
    });
    // The field accepts up to 1,024 characters, and its default is null.
    expect(limitsOf("pushTillV2", "body.companyName")).not.toHaveProperty("limits");
  });
});

describe("the groups of the reference", () => {
  it("contain each operation once, with the legacy operations last and folded", () => {
    const groups = groupOperations(document, operations);
    const grouped = groups.flatMap((group: { operations: DocumentedOperation[] }) => group.operations);
    expect(grouped).toHaveLength(operations.length);
    expect(new Set(grouped)).toEqual(new Set(operations));
    expect(groups.at(-1)).toMatchObject({ label: "Legacy", isCollapsed: true });
  });
});

describe("a reference page without JavaScript", () => {
  it.each(operations)("contains every field, both successes and an example: $operation.operationId", (documented) => {
    const id = operationPageId(documented.operation.operationId);
    const file = join(portalFolder, "build", "api", id, "index.html");
    if (!existsSync(file)) throw new Error("Build the documentation first: node docs-portal/build.mjs");
    const html = readFileSync(file, "utf8");
    const ids = new Set([...html.matchAll(/ id="?([^\s">]+)/g)].map(([, anchor]) => anchor));
    const page = pageOf(documented);
    const anchors = listFields(page).filter(({ name }) => name !== undefined);
    expect(anchors.map(({ id: anchor }) => anchor).filter((anchor) => !ids.has(anchor))).toEqual([]);
    for (const { status } of page.responses) expect(ids, status).toContain(`response-${status}`);
    expect(html).toContain("<pre");
    expect(html).not.toMatch(/skeleton/i);
  });
});

function collectPropertyNames(schema: Schema | undefined, names: Set<string>, seen: Set<string>): void {
  if (schema === undefined) return;
  const { $ref, items, anyOf = [], oneOf = [], properties = {}, additionalProperties } = schema;
  if ($ref !== undefined) {
    if (seen.has($ref)) return;
    seen.add($ref);
    collectPropertyNames(document.components.schemas[$ref.replace("#/components/schemas/", "")], names, seen);
  }
  for (const [name, property] of Object.entries(properties)) {
    names.add(name);
    collectPropertyNames(property, names, seen);
  }
  for (const part of [items, ...anyOf, ...oneOf]) collectPropertyNames(part, names, seen);
  if (typeof additionalProperties === "object") collectPropertyNames(additionalProperties, names, seen);
}

/** Returns a field or a body with all fields below it. */
function flattenFields(field: Field): Field[] {
  const below = [...(field.fields ?? []), ...(field.variants ?? []).flatMap(({ fields }) => fields)];
  return [field, ...below.flatMap(flattenFields)];
}

function listFields(page: {
  parameterGroups: { fields: Field[] }[];
  body?: Field;
  responses: { body?: Field }[];
}): Field[] {
  const bodies = [page.body, ...page.responses.map(({ body }) => body)].filter((body) => body !== undefined);
  return [...page.parameterGroups.flatMap(({ fields }) => fields), ...bodies].flatMap(flattenFields);
}
