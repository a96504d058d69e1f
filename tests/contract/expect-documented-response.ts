import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import { type ApiOperation, fullOpenApiDocument, type JsonSchema, type OperationOutcome } from "./api-operations.ts";
import type { OperationResponse } from "./send-operation-request.ts";

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
addFormats.default(ajv);
ajv.addFormat("date-time-offset-optional", /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/i);
ajv.addVocabulary(["components", "example"]);
ajv.addSchema({ $id: "api", components: forbidAdditionalProperties(fullOpenApiDocument.components) });

const validatorsBySchema = new Map<JsonSchema, ValidateFunction>();

/** Expects an answer to be what the document says of this outcome: status, headers, content type and body. */
export function expectDocumentedResponse(
  operation: ApiOperation,
  answer: OperationResponse,
  outcome: OperationOutcome,
): void {
  const documented = operation.outcomes.get(outcome);
  const failureMessage = `${operation.id} answered ${answer.status}: ${answer.text.slice(0, 1_000)}`;
  expect(answer.status, failureMessage).toBe(documented?.status);
  expect(answer.headers.get("x-request-id"), failureMessage).toMatch(/^[\w-]{16,}$/);
  const [contentType] = (answer.headers.get("content-type") ?? "").split(";");
  const types = Object.keys(documented?.content ?? {});
  if (types.length === 0) {
    expect(answer.text, failureMessage).toBe("");
    return;
  }
  expect(types, failureMessage).toContain(contentType);
  const body = contentType?.endsWith("json") ? JSON.parse(answer.text) : answer.text;
  const validate = getSchemaValidator(documented?.content[contentType ?? ""]?.schema ?? {});
  expect(validate(body) ? [] : validate.errors, failureMessage).toEqual([]);
  if (answer.status < 400) return;
  const requestId = answer.headers.get("x-request-id");
  expect(body).toMatchObject({ code: outcome, status: answer.status, requestId });
}

function getSchemaValidator(schema: JsonSchema): ValidateFunction {
  const known = validatorsBySchema.get(schema);
  if (known) return known;
  const validate = ajv.compile(forbidAdditionalProperties(schema));
  validatorsBySchema.set(schema, validate);
  return validate;
}

/** The schema as replies have to keep it: a field that is not documented is a fault. References lead into the document. */
function forbidAdditionalProperties<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(forbidAdditionalProperties) as Part;
  if (typeof part !== "object" || part === null) return part;
  const entries = Object.entries(part).map(([name, value]) => [
    name,
    name === "$ref" ? String(value).replace("#", "api#") : forbidAdditionalProperties(value),
  ]);
  const isOpen = "properties" in part && !("additionalProperties" in part) && "type" in part;
  return Object.fromEntries(isOpen ? [...entries, ["additionalProperties", false]] : entries);
}
