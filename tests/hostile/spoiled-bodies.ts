import type { Ask } from "../contract/contract.ts";
import { apiDocument, type Operation, type Schema } from "../contract/operations.ts";

type Step = string | number;

/** Stands in a body for the text that takes its place. */
const placeholder = "what cannot be made into JSON by going down the stack, too";

/**
 * The request with one of the values, which are JSON text, in one place of its body: for each value and each place,
 * which are everything in the body and around it, and the fields that the document knows and the body does not have. Of
 * the items of a list the first stands for all. No more than the first `maxPlaces` are taken; with `valuesPerPlace` each
 * place gets so many of the values, the next place those that follow: more where every value would not stand in some place.
 */
export function* spoiledBodies(
  { bodySchema }: Operation,
  ordinary: Ask,
  values: string[],
  { maxPlaces = Number.POSITIVE_INFINITY, valuesPerPlace = values.length } = {},
): Generator<[what: string, Ask]> {
  const body = ofOneItemEach(JSON.parse(JSON.stringify(ordinary.body ?? {})));
  const places = placesIn(body, bodySchema).slice(0, maxPlaces);
  const count = Math.max(valuesPerPlace, Math.ceil(values.length / places.length));
  for (const [index, path] of places.entries()) {
    const [before = "", after = ""] = JSON.stringify(withAt(body, path, placeholder)).split(`"${placeholder}"`);
    for (let at = 0; at < count; at += 1) {
      const value = values[(index * count + at) % values.length] ?? "";
      yield [`${path.join("/")} = ${value.slice(0, 60)}`, { ...ordinary, body: before + value + after }];
    }
  }
}

function ofOneItemEach(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(ofOneItemEach);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, ofOneItemEach(inner)]));
}

function placesIn(value: unknown, schema: Schema): Step[][] {
  const inner: [Step, unknown, Schema][] = [];
  if (Array.isArray(value))
    inner.push(...value.map((item, index) => [index, item, itemsOf(schema)] as [Step, unknown, Schema]));
  else if (typeof value === "object" && value !== null) {
    const known = propertiesOf(schema);
    for (const name of new Set([...Object.keys(known), ...Object.keys(value)])) {
      inner.push([name, (value as Record<string, unknown>)[name], known[name] ?? {}]);
    }
  }
  return [[], ...inner.flatMap(([step, each, its]) => placesIn(each, its).map((path) => [step, ...path]))];
}

function withAt(body: unknown, [step, ...rest]: Step[], value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(body)) return body.map((item, index) => (index === step ? withAt(item, rest, value) : item));
  const holder = body as Record<string, unknown>;
  return { ...holder, [step]: withAt(holder[step], rest, value) };
}

function propertiesOf(schema: Schema): Record<string, Schema> {
  return Object.assign({}, ...variantsOf(schema).map(({ properties }) => properties));
}

function itemsOf(schema: Schema): Schema {
  return { anyOf: variantsOf(schema).flatMap(({ items }) => (items ? [items] : [])) };
}

/** The schemas without references that it is made of. */
function variantsOf(schema: Schema): Schema[] {
  const { $ref, anyOf = [], oneOf = [], allOf = [] } = schema as Record<string, Schema[]> & { $ref?: string };
  if ($ref) return variantsOf(apiDocument.components.schemas[$ref.split("/").at(-1) ?? ""] ?? {});
  return [schema, ...[...anyOf, ...oneOf, ...allOf].flatMap(variantsOf)];
}
