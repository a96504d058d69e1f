import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageFolder } from "@pragma/runtime/package-folder";
import { describe, expect, it } from "vitest";

const contracts = packageFolder(import.meta.resolve("@pragma/contracts/errors"));
const checkout = join(contracts, "..");
const run = promisify(execFile);

const names = ["openapi.json", "openapi.full.json"];
const documents = names.map((name) => join(contracts, name));

describe("the documents in contracts/", () => {
  it("have no errors under Redocly's recommended rules", async () => {
    await run("npx", ["redocly", "lint", ...documents, "--max-problems=20"], { cwd: checkout });
  }, 120_000);

  // The full document holds all that the public one does; Spectral takes a minute of CPU for each.
  it("have no errors under Spectral's recommended rules", async () => {
    await run("npx", ["spectral", "lint", join(contracts, "openapi.full.json"), "--fail-severity=error", "--quiet"], {
      cwd: checkout,
    });
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
});

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
