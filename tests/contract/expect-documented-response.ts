import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import {
  type DocumentedApiOperation,
  type DocumentedOutcome,
  fullOpenApiDocument,
  type JsonSchema,
} from "./api-operations.ts";
import type { ContractTestOperationResponse } from "./send-operation-request.ts";

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
addFormats.default(ajv);
ajv.addFormat("date-time-offset-optional", /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/i);
ajv.addVocabulary(["components", "example"]);
ajv.addSchema({ $id: "api", components: forbidAdditionalProperties(fullOpenApiDocument.components) });

const validatorsBySchema = new Map<JsonSchema, ValidateFunction>();

/** Checks that a response has a request id and the documented status, content type and body of an outcome. */
export function expectDocumentedResponse(
  operation: DocumentedApiOperation,
  response: ContractTestOperationResponse,
  outcome: DocumentedOutcome,
): void {
  const documented = operation.outcomes.get(outcome);
  const failureMessage = `${operation.id} returned ${response.status}: ${response.text.slice(0, 1_000)}`;
  expect(response.status, failureMessage).toBe(documented?.status);
  expect(response.headers.get("x-request-id"), failureMessage).toMatch(/^[\w-]{16,}$/);
  const [contentType] = (response.headers.get("content-type") ?? "").split(";");
  const types = Object.keys(documented?.content ?? {});
  if (types.length === 0) {
    expect(response.text, failureMessage).toBe("");
    return;
  }
  expect(types, failureMessage).toContain(contentType);
  const body = contentType && /[/+]json$/.test(contentType) ? JSON.parse(response.text) : response.text;
  const validate = getSchemaValidator(documented?.content[contentType ?? ""]?.schema ?? {});
  expect(validate(body) ? [] : validate.errors, failureMessage).toEqual([]);
  if (response.status < 400) return;
  const requestId = response.headers.get("x-request-id");
  expect(body).toMatchObject({ code: outcome, status: response.status, requestId });
}

function getSchemaValidator(schema: JsonSchema): ValidateFunction {
  const compiled = validatorsBySchema.get(schema);
  if (compiled) return compiled;
  const validate = ajv.compile(forbidAdditionalProperties(schema));
  validatorsBySchema.set(schema, validate);
  return validate;
}

/**
 * Returns the schema with additional properties forbidden unless it allows them explicitly, so that undocumented fields
 * in a response are detected. References in the schema then point to the components that Ajv knows as `api`.
 */
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
