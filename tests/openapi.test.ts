import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";

const contracts = findEnclosingPackageFolder(import.meta.resolve("@pragma/contracts/errors"));
const checkout = join(contracts, "..");
const run = promisify(execFile);

const toolPath = (name: string) => join(checkout, "node_modules", ".bin", name);

const names = ["openapi.json", "openapi.full.json"];
const documents = names.map((name) => join(contracts, name));

describe("the OpenAPI documents in contracts/", () => {
  it("have no errors under Redocly's recommended rules", async () => {
    await run(toolPath("redocly"), ["lint", ...documents, "--max-problems=20"], { cwd: checkout });
  }, 120_000);
});

describe.each(names)("contracts/%s", (name) => {
  const file = join(contracts, name);

  it("has an example of every request and response body", async () => {
    const document = JSON.parse(await readFile(file, "utf8"));
    const missing: string[] = [];
    for (const [path, operations] of Object.entries<Record<string, Operation>>(document.paths)) {
      for (const [method, { requestBody, responses }] of Object.entries(operations)) {
        const bodies = [requestBody, ...Object.values(responses)].flatMap((part) => Object.values(part?.content ?? {}));
        for (const body of bodies) if (!hasExample(body, document)) missing.push(`${method} ${path}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it("describes every property of every schema", async () => {
    const document = JSON.parse(await readFile(file, "utf8"));
    expect(listPropertiesWithoutDescription(document, document.components.schemas)).toEqual([]);
  });

  // The other document is a part of this one.
  it.runIf(name === "openapi.full.json")("has only examples and defaults that match their schemas", async () => {
    const document = JSON.parse(await readFile(file, "utf8"));
    const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
    addFormats.default(ajv);
    ajv.addSchema(document, "document");
    const exampleList = listExampleValues(document);
    expect(exampleList.length).toBeGreaterThan(900);
    const mismatches = exampleList.flatMap(({ schema, value }) => {
      const validate = ajv.getSchema(`document#${schema}`);
      if (validate?.(value)) return [];
      return [`${schema}: ${JSON.stringify(value)?.slice(0, 200)} ${ajv.errorsText(validate?.errors)}`];
    });
    expect(mismatches).toEqual([]);
  });
});

/** Returns the paths of the properties of which neither the schema nor the component that it refers to has a description. */
function listPropertiesWithoutDescription(part: unknown, components: Record<string, Schema>, path = ""): string[] {
  if (typeof part !== "object" || part === null) return [];
  const { properties = {} } = part as Schema;
  const isDescribed = ({ $ref, description, allOf = [] }: Schema): boolean =>
    description !== undefined ||
    [components[$ref?.split("/").at(-1) ?? ""] ?? {}, ...allOf].some((schema) => schema.description !== undefined);
  const own = Object.keys(properties).filter((name) => !isDescribed(properties[name] ?? {}));
  const children = Object.entries(part).filter(([key]) => !["example", "examples", "default"].includes(key));
  return [
    ...own.map((name) => `${path}.${name}`),
    ...children.flatMap(([key, value]) => listPropertiesWithoutDescription(value, components, `${path}/${key}`)),
  ];
}

interface ExampleValue {
  /** The JSON pointer to the schema of the value in the document. */
  schema: string;
  value: unknown;
}

/** Returns every example value and default value in the bodies, parameters and schemas of a document. */
function listExampleValues(part: unknown, pointer = "", name = ""): ExampleValue[] {
  if (typeof part !== "object" || part === null) return [];
  const { schema, example, default: byDefault, examples } = part as Record<string, unknown>;
  const isSchema = name !== "properties" && ["type", "$ref", "enum", "properties", "items"].some((key) => key in part);
  const own: ExampleValue[] = [];
  if (schema !== undefined || isSchema) {
    const schemaPointer = schema === undefined ? pointer : `${pointer}/schema`;
    const namedExamples = Object.values((schema !== undefined && examples) || {}).map(({ value }) => value);
    const listedExamples = isSchema && Array.isArray(examples) ? examples : [];
    for (const value of [example, byDefault, ...namedExamples, ...listedExamples])
      if (value !== undefined) own.push({ schema: schemaPointer, value });
  }
  const values = own.length > 0 ? ["example", "default", "examples"] : [];
  const children = Object.entries(part).filter(([key]) => !values.includes(key));
  const escapePointer = (key: string) => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"));
  return [
    ...own,
    ...children.flatMap(([key, value]) => listExampleValues(value, `${pointer}/${escapePointer(key)}`, key)),
  ];
}

interface Operation {
  requestBody?: Part;
  responses: Record<string, Part>;
}
interface Part {
  content?: Record<string, Body>;
}
interface Body {
  example?: unknown;
  schema: Schema;
}
interface Schema {
  $ref?: string;
  description?: string;
  example?: unknown;
  items?: Schema;
  properties?: Record<string, Schema>;
  allOf?: Schema[];
}

/** Returns whether a body has an example: its own example, its schema's example, or one in a part of the schema. */
function hasExample(body: Body | Schema, document: { components: { schemas: Record<string, Schema> } }): boolean {
  if (body.example !== undefined) return true;
  const schema = "schema" in body ? body.schema : body;
  if (schema.example !== undefined) return true;
  if (schema.$ref) {
    const component = document.components.schemas[schema.$ref.split("/").at(-1) ?? ""];
    return component !== undefined && hasExample(component, document);
  }
  if (schema.allOf) return schema.allOf.some((part) => hasExample(part, document));
  if (schema.items) return hasExample(schema.items, document);
  const { data } = schema.properties ?? {};
  return data !== undefined && hasExample(data, document);
}
