import { type DocumentedApiOperation, fullOpenApiDocument, type JsonSchema } from "../contract/api-operations.ts";
import type { ContractTestRequest } from "../contract/operation-contract.ts";

type JsonPathStep = string | number;

/** A placeholder in the JSON text for an invalid value, because `JSON.stringify` fails for deeply nested values. */
const placeholder = "placeholder of an invalid value";

/**
 * Generates requests from a success request. Each request has one of the values, given as JSON text, in one place of
 * its body. The places are the body itself, all values in it, and the documented fields that it does not have. Only the
 * first item of a list is used, and up to `maxPlaces` places. Each place gets `valuesPerPlace` values, or more if some
 * values would otherwise remain unused.
 */
export function* generateInvalidBodyRequests(
  { bodySchema }: DocumentedApiOperation,
  successRequest: ContractTestRequest,
  values: string[],
  { maxPlaces = Number.POSITIVE_INFINITY, valuesPerPlace = values.length } = {},
): Generator<[description: string, ContractTestRequest]> {
  const body = withFirstItemsOnly(JSON.parse(JSON.stringify(successRequest.body ?? {})));
  const places = listJsonPaths(body, bodySchema).slice(0, maxPlaces);
  const count = Math.max(valuesPerPlace, Math.ceil(values.length / places.length));
  for (const [index, path] of places.entries()) {
    const [before = "", after = ""] = JSON.stringify(replaceAtPath(body, path, placeholder)).split(`"${placeholder}"`);
    for (let at = 0; at < count; at += 1) {
      const value = values[(index * count + at) % values.length] ?? "";
      yield [`${path.join("/")} = ${value.slice(0, 60)}`, { ...successRequest, body: before + value + after }];
    }
  }
}

function withFirstItemsOnly(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(withFirstItemsOnly);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withFirstItemsOnly(inner)]));
}

function listJsonPaths(value: unknown, schema: JsonSchema): JsonPathStep[][] {
  const inner: [JsonPathStep, unknown, JsonSchema][] = [];
  if (Array.isArray(value))
    inner.push(...value.map((item, index) => [index, item, itemSchema(schema)] as [JsonPathStep, unknown, JsonSchema]));
  else if (typeof value === "object" && value !== null) {
    const schemasByName = propertySchemas(schema);
    for (const name of new Set([...Object.keys(schemasByName), ...Object.keys(value)])) {
      inner.push([name, (value as Record<string, unknown>)[name], schemasByName[name] ?? {}]);
    }
  }
  return [
    [],
    ...inner.flatMap(([step, each, itemOrPropertySchema]) =>
      listJsonPaths(each, itemOrPropertySchema).map((path) => [step, ...path]),
    ),
  ];
}

function replaceAtPath(body: unknown, [step, ...rest]: JsonPathStep[], value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(body)) return body.map((item, index) => (index === step ? replaceAtPath(item, rest, value) : item));
  const container = body as Record<string, unknown>;
  return { ...container, [step]: replaceAtPath(container[step], rest, value) };
}

function propertySchemas(schema: JsonSchema): Record<string, JsonSchema> {
  return Object.assign({}, ...resolveSchemaVariants(schema).map(({ properties }) => properties));
}

function itemSchema(schema: JsonSchema): JsonSchema {
  return { anyOf: resolveSchemaVariants(schema).flatMap(({ items }) => (items ? [items] : [])) };
}

/** Returns a schema and all schemas in its `anyOf`, `oneOf` and `allOf`, with references resolved. */
function resolveSchemaVariants(schema: JsonSchema): JsonSchema[] {
  const { $ref, anyOf = [], oneOf = [], allOf = [] } = schema as Record<string, JsonSchema[]> & { $ref?: string };
  if ($ref) return resolveSchemaVariants(fullOpenApiDocument.components.schemas[$ref.split("/").at(-1) ?? ""] ?? {});
  return [schema, ...[...anyOf, ...oneOf, ...allOf].flatMap(resolveSchemaVariants)];
}
