import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { findPackageFolder } from "@pragma/runtime/process/package-folder";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";

const contracts = findPackageFolder(import.meta.resolve("@pragma/contracts/errors"));
const checkout = join(contracts, "..");
const run = promisify(execFile);

const toolPath = (name: string) => join(checkout, "node_modules", ".bin", name);

const names = ["openapi.json", "openapi.full.json"];
const documents = names.map((name) => join(contracts, name));

describe("the documents in contracts/", () => {
  it("have no errors under Redocly's recommended rules", async () => {
    await run(toolPath("redocly"), ["lint", ...documents, "--max-problems=20"], { cwd: checkout });
  }, 120_000);

  // The full document holds all that the public one does. Examples are validated below, which takes Spectral far longer.
  it("have no errors under Spectral's other recommended rules", async () => {
    await run(
      toolPath("spectral"),
      ["lint", join(contracts, "openapi.full.json"), "--fail-severity=error", "--quiet"],
      {
        cwd: checkout,
      },
    );
  }, 240_000);
});

describe.each(names)("contracts/%s", (name) => {
  const file = join(contracts, name);

  it("shows an example for every body that is sent or answered", async () => {
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

  it("has only examples and defaults that are what their schemas say", async () => {
    const document = JSON.parse(await readFile(file, "utf8"));
    const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
    addFormats.default(ajv);
    ajv.addSchema(document, "document");
    const shown = exampleValues(document);
    expect(shown.length).toBeGreaterThan(900);
    const faults = shown.flatMap(({ schema, value }) => {
      const validate = ajv.getSchema(`document#${schema}`);
      if (validate?.(value)) return [];
      return [`${schema}: ${JSON.stringify(value)?.slice(0, 200)} ${ajv.errorsText(validate?.errors)}`];
    });
    expect(faults).toEqual([]);
  });
});

interface ExampleValue {
  /** Where its schema is in the document, as a JSON pointer. */
  schema: string;
  value: unknown;
}

/** Every example and default of a document: of bodies and parameters, beside their schemas, and of schemas. */
function exampleValues(part: unknown, pointer = "", name = ""): ExampleValue[] {
  if (typeof part !== "object" || part === null) return [];
  const { schema, example, default: byDefault, examples } = part as Record<string, unknown>;
  const isSchema = name !== "properties" && ["type", "$ref", "enum", "properties", "items"].some((key) => key in part);
  const found: ExampleValue[] = [];
  if (schema !== undefined || isSchema) {
    const ofItself = schema === undefined ? pointer : `${pointer}/schema`;
    const named = Object.values((schema !== undefined && examples) || {}).map(({ value }) => value);
    const listed = isSchema && Array.isArray(examples) ? examples : [];
    for (const value of [example, byDefault, ...named, ...listed])
      if (value !== undefined) found.push({ schema: ofItself, value });
  }
  const values = found.length > 0 ? ["example", "default", "examples"] : [];
  const inner = Object.entries(part).filter(([key]) => !values.includes(key));
  const escaped = (key: string) => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"));
  return [...found, ...inner.flatMap(([key, value]) => exampleValues(value, `${pointer}/${escaped(key)}`, key))];
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
  example?: unknown;
  items?: Schema;
  properties?: Record<string, Schema>;
  allOf?: Schema[];
}

/** An example of the body itself, of the component that it is, or of each part that it is made of. */
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
