import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import type { Answer } from "./ask-operation.ts";
import { apiDocument, type Operation, type Outcome, type Schema } from "./operations.ts";

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
addFormats.default(ajv);
ajv.addFormat("date-time-offset-optional", /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/i);
ajv.addVocabulary(["components", "example"]);
ajv.addSchema({ $id: "api", components: closed(apiDocument.components) });

const validators = new Map<Schema, ValidateFunction>();

/** Expects an answer to be what the document says of this outcome: status, headers, content type and body. */
export function expectDocumented(operation: Operation, answer: Answer, outcome: Outcome): void {
  const documented = operation.outcomes.get(outcome);
  const told = `${operation.id} answered ${answer.status}: ${answer.text.slice(0, 1_000)}`;
  expect(answer.status, told).toBe(documented?.status);
  expect(answer.headers.get("x-request-id"), told).toMatch(/^[\w-]{16,}$/);
  const [contentType] = (answer.headers.get("content-type") ?? "").split(";");
  const types = Object.keys(documented?.content ?? {});
  if (types.length === 0) {
    expect(answer.text, told).toBe("");
    return;
  }
  expect(types, told).toContain(contentType);
  const body = contentType?.endsWith("json") ? JSON.parse(answer.text) : answer.text;
  const validate = validatorOf(documented?.content[contentType ?? ""]?.schema ?? {});
  expect(validate(body) ? [] : validate.errors, told).toEqual([]);
  if (answer.status < 400) return;
  const requestId = answer.headers.get("x-request-id");
  expect(body).toMatchObject({ code: outcome, status: answer.status, requestId });
}

function validatorOf(schema: Schema): ValidateFunction {
  const known = validators.get(schema);
  if (known) return known;
  const validate = ajv.compile(closed(schema));
  validators.set(schema, validate);
  return validate;
}

/** The schema as replies have to keep it: a field that is not documented is a fault. References lead into the document. */
function closed<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(closed) as Part;
  if (typeof part !== "object" || part === null) return part;
  const entries = Object.entries(part).map(([name, value]) => [
    name,
    name === "$ref" ? String(value).replace("#", "api#") : closed(value),
  ]);
  const isOpen = "properties" in part && !("additionalProperties" in part) && "type" in part;
  return Object.fromEntries(isOpen ? [...entries, ["additionalProperties", false]] : entries);
}
