import { z } from "zod";

/** Kinds of schema whose values stay as they are, unless one of their checks writes another form. */
const primitiveTypes = new Set<string>(["string", "number", "boolean", "enum", "literal"]);

/**
 * Returns a schema that gives values which `schema` has accepted before the same form as `schema` does: defaults are
 * filled in, ids and dates are canonical, unknown fields are left out. It checks nothing, which takes half of the time.
 */
export function toUncheckedSchema<Schema extends z.ZodType>(schema: Schema): z.ZodType<z.output<Schema>> {
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
  // What is of another kind may change its values, too: it stays as it is.
  return primitiveTypes.has(type) && !isRewritten ? z.any() : schema;
}
