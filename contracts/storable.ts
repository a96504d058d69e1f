import type { z } from "zod";

/** The NUL character, and halves of surrogate pairs: JSON can spell them, PostgreSQL cannot store them. */
const unstorable = /[\0\p{Surrogate}]/u;
const everyUnstorable = new RegExp(unstorable, "gu");

/** A text without what cannot be stored of it. */
export function withoutUnstorable(text: string): string {
  return text.replaceAll(everyUnstorable, "");
}

/** The same schema, with a fault for each text in it that cannot be stored. */
export function storable<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.superRefine((value, context) => {
    for (const path of unstorableTexts(value)) {
      context.addIssue({
        code: "custom",
        path,
        message: "Must be text: without the NUL character, and without halves of surrogate pairs",
      });
    }
  });
}

function unstorableTexts(value: unknown): PropertyKey[][] {
  if (typeof value === "string") return unstorable.test(value) ? [[]] : [];
  if (typeof value !== "object" || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, inner]) =>
    unstorableTexts(inner).map((path) => [isList ? Number(key) : key, ...path]),
  );
}
