import { z } from "zod";

/**
 * The kinds of field that entities are made of, each with its limits. A field that may be null may also be absent,
 * which older clients do: it then is null.
 */

interface LengthLimits {
  /** Left out: none. */
  min?: number;
}

/** Returns a schema of texts of at most `max` characters. */
export function boundedString(max: number, { min = 0 }: LengthLimits = {}): z.ZodString {
  return z.string().check(...lengthChecks(min, max));
}

/** Returns a schema of lists of at most `max` items. */
export function boundedArray<Item extends z.ZodType>(
  item: Item,
  max: number,
  { min = 0 }: LengthLimits = {},
): z.ZodArray<Item> {
  return z.array(item).check(...lengthChecks(min, max));
}

/**
 * zod's own `.min()` and `.max()` read the `length` of whatever a client sends in place of a text or list, and throw
 * when it is an object that cannot be compared. These skip everything that is neither a text nor a list.
 */
function lengthChecks(minimum: number, maximum: number) {
  const hasLength = ({ value }: { value: unknown }) => typeof value === "string" || Array.isArray(value);
  const max = new z.core.$ZodCheckMaxLength({ check: "max_length", maximum, when: hasLength });
  return minimum > 0 ? [new z.core.$ZodCheckMinLength({ check: "min_length", minimum, when: hasLength }), max] : [max];
}

/**
 * A check for a list whose items have ids: reports each item whose id was in the list before. It runs even when items
 * have other faults, so that all are reported at once.
 */
export function uniqueItemsCheck<Field extends string>(what: string, idField: Field) {
  const check = z.superRefine<{ [field in Field]?: unknown }[]>((items, context) => {
    const firstIndexById = new Map<string, number>();
    for (const [index, item] of items.entries()) {
      const id = item?.[idField];
      if (typeof id !== "string") continue;
      const firstIndex = firstIndexById.get(id);
      if (firstIndex === undefined) firstIndexById.set(id, index);
      else
        context.addIssue({
          code: "custom",
          path: [index, idField],
          params: { code: "duplicate" },
          message: `The same ${what} is already at index ${firstIndex}`,
        });
    }
  });
  check._zod.def.when = (payload) => Array.isArray(payload.value);
  return check;
}

/** The NUL character, and halves of surrogate pairs: JSON can spell them, PostgreSQL cannot store them. */
const unstorableCharacter = /[\0\p{Surrogate}]/u;
const unstorableCharacters = new RegExp(unstorableCharacter, "gu");

/** A text without what cannot be stored of it. */
export function stripUnstorableCharacters(textField: string): string {
  return textField.replaceAll(unstorableCharacters, "");
}

/** The same schema, with a fault for each text in it that cannot be stored. */
export function rejectUnstorableText<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.superRefine((value, context) => {
    for (const path of pathsOfUnstorableText(value)) {
      context.addIssue({
        code: "custom",
        path,
        message: "Must be text: without the NUL character, and without halves of surrogate pairs",
      });
    }
  });
}

function pathsOfUnstorableText(value: unknown): PropertyKey[][] {
  if (typeof value === "string") return unstorableCharacter.test(value) ? [[]] : [];
  if (typeof value !== "object" || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, inner]) =>
    pathsOfUnstorableText(inner).map((path) => [isList ? Number(key) : key, ...path]),
  );
}

// Without a flag, so that the documented pattern is whole.
const clientGeneratedIdPattern = /^s?[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;

/** The uuid in an id that a client made: without its leading `s`, if it has one, in lower case. */
export function clientGeneratedIdToUuid(id: string): string {
  return (id.length === 37 ? id.slice(1) : id).toLowerCase();
}

/**
 * An id that a client made: a uuid of any variant, or an `s` followed by one. It becomes the uuid alone, in lower case,
 * under which the thing is then known.
 */
export const ClientGeneratedId = z
  .string()
  .regex(clientGeneratedIdPattern, { error: "Must be a uuid, or an s followed by a uuid" })
  .overwrite(clientGeneratedIdToUuid)
  .meta({ description: "A uuid, or an s followed by one", example: "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9" });

/** The largest amount of one record. Whatever a till of the largest size sums up to is still an exact number. */
const maxAmount = 100_000_000_000;
const amountSchema = z.int().min(-maxAmount).max(maxAmount);
/** Units or guests of one record: beyond any real one. */
const maxUnitCount = 1_000_000;

/** Whether an amount that is calculated from others, such as a price times units, is no larger than one that is given. */
export function isAmountInRange(calculated: number): boolean {
  return Math.abs(calculated) <= maxAmount;
}

/** Money in minor currency units (1400 means 14.00). */
export const amountField = (description: string) =>
  amountSchema.meta({ description: `${description}. In minor units: 1400 means 14.00` });

export const optionalAmountField = (description: string) =>
  nullWhenAbsent(amountSchema).meta({ description: `${description}. In minor units: 1400 means 14.00` });

/** How many there are of something that cannot be negative. */
export const countField = (description: string) => z.int().min(0).meta({ description });

export const optionalCountField = (description: string) => nullWhenAbsent(z.int().min(0)).meta({ description });

/** How many units or guests: what is multiplied by it or sums it up is still an exact number. */
export const unitCountField = (description: string, { least = 0 } = {}) =>
  z.int().min(least).max(maxUnitCount).meta({ description, example: 1 });

export const signedUnitCountField = (description: string) => unitCountField(description, { least: -maxUnitCount });

/** A whole number of any sign. */
export const optionalIntegerField = (description: string) => nullWhenAbsent(z.int()).meta({ description });

/** A short text: a name, an address line, an id of another system. At most 1,024 characters. */
export const optionalTextField = (description: string) => nullWhenAbsent(boundedString(1_024)).meta({ description });

/** A text that people or terminals write at length: a comment, a card receipt. At most 10,000 characters. */
export const optionalLongTextField = (description: string) =>
  nullWhenAbsent(boundedString(10_000)).meta({ description });

/** The id of a row, unique inside its order. */
export const rowIdField = (description: string) => boundedString(255, { min: 1 }).meta({ description });

export const booleanField = (description: string) => z.boolean().meta({ description });

/** ISO 4217. */
export const optionalCurrencyField = (description = "Currency, ISO 4217") =>
  nullWhenAbsent(z.string().regex(/^[A-Z]{3}$/, { error: "Must be an ISO 4217 currency code, such as EUR" })).meta({
    description,
    example: "EUR",
  });

/** A VAT rate as order rows carry it. */
export const vatPercentField = (description = "VAT rate in plain percent: 10 means 10%, 5.5 means 5.5%") =>
  z.number().min(0).max(1_000).meta({ description, example: 10 });

/** A VAT rate as reports carry it. */
export const vatBasisPointsField = (description = "VAT rate in hundredths of a percent: 2000 means 20%") =>
  z.int().min(0).meta({ description, example: 1000 });

/** A text of a reply: empty where there is none. */
export const text = (description: string) => z.string().meta({ description });

/** A text of a reply: null where there is none. */
export const nullableTextField = (description: string) => z.string().nullable().meta({ description });

/** A quantity of an aggregate in a report: at least 1. */
export const aggregateQuantityField = (description: string) => z.int().min(1).meta({ description });

/** The same kind of value, or null; absent counts as null. */
export function nullWhenAbsent<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullable().default(null as never);
}

/** The fields of an entity as replies carry them: what has a default in a body is always there. */
export function withoutFieldDefaults<Shape extends z.ZodRawShape>(shape: Shape): WithoutFieldDefaults<Shape> {
  const entries = Object.entries(shape).map(([name, field]) => {
    if (!(field instanceof z.ZodDefault)) return [name, field];
    const inner = field.unwrap() as z.ZodType;
    return [name, inner.meta({ ...inner.meta(), ...field.meta() })];
  });
  return Object.fromEntries(entries);
}

export type WithoutFieldDefaults<Shape> = {
  [Name in keyof Shape]: Shape[Name] extends z.ZodDefault<infer Inner> ? Inner : Shape[Name];
};

/**
 * What an entity has in each field that a body leaves out, in the order of its schema: a field without a default is
 * there as undefined, so that what is spread over it keeps that order.
 */
export function fieldDefaultsOf<Shape extends z.ZodRawShape>(shape: Shape): FieldDefaults<Shape> {
  const defaultOf = (field: z.core.$ZodType) => (field instanceof z.ZodDefault ? field.def.defaultValue : undefined);
  return Object.fromEntries(
    Object.entries(shape).map(([name, field]) => [name, defaultOf(field)]),
  ) as FieldDefaults<Shape>;
}

type FieldDefaults<Shape extends z.ZodRawShape> = {
  [Name in keyof Shape as Shape[Name] extends z.ZodDefault ? Name : never]: z.output<Shape[Name]>;
};
