import { type ApiOperation, fullOpenApiDocument, type JsonSchema } from "../contract/api-operations.ts";
import type { OperationRequest } from "../contract/operation-contract.ts";

type JsonPathStep = string | number;

/** Stands in a body for the text that takes its place. */
const placeholder = "what cannot be made into JSON by going down the stack, too";

/**
 * The request with one of the values, which are JSON text, in one place of its body: for each value and each place,
 * which are everything in the body and around it, and the fields that the document knows and the body does not have. Of
 * the items of a list the first stands for all. No more than the first `maxPlaces` are taken; with `valuesPerPlace` each
 * place gets so many of the values, the next place those that follow: more where every value would not stand in some place.
 */
export function* generateInvalidBodies(
  { bodySchema }: ApiOperation,
  ordinary: OperationRequest,
  values: string[],
  { maxPlaces = Number.POSITIVE_INFINITY, valuesPerPlace = values.length } = {},
): Generator<[what: string, OperationRequest]> {
  const body = withFirstItemsOnly(JSON.parse(JSON.stringify(ordinary.body ?? {})));
  const places = listJsonPaths(body, bodySchema).slice(0, maxPlaces);
  const count = Math.max(valuesPerPlace, Math.ceil(values.length / places.length));
  for (const [index, path] of places.entries()) {
    const [before = "", after = ""] = JSON.stringify(replaceAtPath(body, path, placeholder)).split(`"${placeholder}"`);
    for (let at = 0; at < count; at += 1) {
      const value = values[(index * count + at) % values.length] ?? "";
      yield [`${path.join("/")} = ${value.slice(0, 60)}`, { ...ordinary, body: before + value + after }];
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
    const known = propertySchemas(schema);
    for (const name of new Set([...Object.keys(known), ...Object.keys(value)])) {
      inner.push([name, (value as Record<string, unknown>)[name], known[name] ?? {}]);
    }
  }
  return [[], ...inner.flatMap(([step, each, its]) => listJsonPaths(each, its).map((path) => [step, ...path]))];
}

function replaceAtPath(body: unknown, [step, ...rest]: JsonPathStep[], value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(body)) return body.map((item, index) => (index === step ? replaceAtPath(item, rest, value) : item));
  const holder = body as Record<string, unknown>;
  return { ...holder, [step]: replaceAtPath(holder[step], rest, value) };
}

function propertySchemas(schema: JsonSchema): Record<string, JsonSchema> {
  return Object.assign({}, ...resolveSchemaVariants(schema).map(({ properties }) => properties));
}

function itemSchema(schema: JsonSchema): JsonSchema {
  return { anyOf: resolveSchemaVariants(schema).flatMap(({ items }) => (items ? [items] : [])) };
}

/** The schemas without references that it is made of. */
function resolveSchemaVariants(schema: JsonSchema): JsonSchema[] {
  const { $ref, anyOf = [], oneOf = [], allOf = [] } = schema as Record<string, JsonSchema[]> & { $ref?: string };
  if ($ref) return resolveSchemaVariants(fullOpenApiDocument.components.schemas[$ref.split("/").at(-1) ?? ""] ?? {});
  return [schema, ...[...anyOf, ...oneOf, ...allOf].flatMap(resolveSchemaVariants)];
}
