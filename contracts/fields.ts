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
export function limitedText(max: number, { min = 0 }: LengthLimits = {}): z.ZodString {
  return z.string().check(...lengthChecks(min, max));
}

/** Returns a schema of lists of at most `max` items. */
export function limitedList<Item extends z.ZodType>(
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
  const when = ({ value }: { value: unknown }) => typeof value === "string" || Array.isArray(value);
  const max = new z.core.$ZodCheckMaxLength({ check: "max_length", maximum, when });
  return minimum > 0 ? [new z.core.$ZodCheckMinLength({ check: "min_length", minimum, when }), max] : [max];
}

/**
 * A check for a list whose items have ids: reports each item whose id was in the list before. It runs even when items
 * have other faults, so that all are reported at once.
 */
export function refuseTwice<Field extends string>(what: string, idField: Field) {
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

// Without a flag, so that the documented pattern is whole.
const clientId = /^s?[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;

/** The uuid in an id that a client made: without its leading `s`, if it has one, in lower case. */
export function toUuid(id: string): string {
  return (id.length === 37 ? id.slice(1) : id).toLowerCase();
}

/**
 * An id that a client made: a uuid of any variant, or an `s` followed by one. It becomes the uuid alone, in lower case,
 * under which the thing is then known.
 */
export const ClientId = z
  .string()
  .regex(clientId, { error: "Must be a uuid, or an s followed by a uuid" })
  .overwrite(toUuid)
  .meta({ description: "A uuid, or an s followed by one", example: "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9" });

/** The largest amount of one record. Whatever a till of the largest size sums up to is still an exact number. */
const largestAmount = 100_000_000_000;
const money = z.int().min(-largestAmount).max(largestAmount);
/** Units or guests of one record: beyond any real one. */
const mostUnits = 1_000_000;

/** Whether an amount that is calculated from others, such as a price times units, is no larger than one that is given. */
export function isAmount(calculated: number): boolean {
  return Math.abs(calculated) <= largestAmount;
}

/** Money in minor currency units (1400 means 14.00). */
export const amount = (description: string) =>
  money.meta({ description: `${description}. In minor units: 1400 means 14.00` });

export const optionalAmount = (description: string) =>
  orNull(money).meta({ description: `${description}. In minor units: 1400 means 14.00` });

/** How many there are of something that cannot be negative. */
export const count = (description: string) => z.int().min(0).meta({ description });

export const optionalCount = (description: string) => orNull(z.int().min(0)).meta({ description });

/** How many units or guests: what is multiplied by it or sums it up is still an exact number. */
export const units = (description: string, { least = 0 } = {}) =>
  z.int().min(least).max(mostUnits).meta({ description, example: 1 });

export const signedUnits = (description: string) => units(description, { least: -mostUnits });

/** A whole number of any sign. */
export const optionalInteger = (description: string) => orNull(z.int()).meta({ description });

/** A short text: a name, an address line, an id of another system. At most 1,024 characters. */
export const optionalText = (description: string) => orNull(limitedText(1_024)).meta({ description });

/** A text that people or terminals write at length: a comment, a card receipt. At most 10,000 characters. */
export const optionalLongText = (description: string) => orNull(limitedText(10_000)).meta({ description });

/** The id of a row, unique inside its order. */
export const rowId = (description: string) => limitedText(255, { min: 1 }).meta({ description });

export const flag = (description: string) => z.boolean().meta({ description });

/** ISO 4217. */
export const optionalCurrency = (description = "Currency, ISO 4217") =>
  orNull(z.string().regex(/^[A-Z]{3}$/, { error: "Must be an ISO 4217 currency code, such as EUR" })).meta({
    description,
    example: "EUR",
  });

/** A VAT rate as order rows carry it. */
export const plainPercent = (description = "VAT rate in plain percent: 10 means 10%, 5.5 means 5.5%") =>
  z.number().min(0).max(1_000).meta({ description, example: 10 });

/** A VAT rate as reports carry it. */
export const hundredthsOfPercent = (description = "VAT rate in hundredths of a percent: 2000 means 20%") =>
  z.int().min(0).meta({ description, example: 1000 });

/** A text of a reply: empty where there is none. */
export const text = (description: string) => z.string().meta({ description });

/** A text of a reply: null where there is none. */
export const textOrNull = (description: string) => z.string().nullable().meta({ description });

/** A quantity of an aggregate in a report: at least 1. */
export const aggregateQuantity = (description: string) => z.int().min(1).meta({ description });

/** The same kind of value, or null; absent counts as null. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullable().default(null as never);
}

/** The fields of an entity as replies carry them: what has a default in a body is always there. */
export function withoutDefaults<Shape extends z.ZodRawShape>(shape: Shape): WithoutDefaults<Shape> {
  const entries = Object.entries(shape).map(([name, field]) => {
    if (!(field instanceof z.ZodDefault)) return [name, field];
    const inner = field.unwrap() as z.ZodType;
    return [name, inner.meta({ ...inner.meta(), ...field.meta() })];
  });
  return Object.fromEntries(entries);
}

export type WithoutDefaults<Shape> = {
  [Name in keyof Shape]: Shape[Name] extends z.ZodDefault<infer Inner> ? Inner : Shape[Name];
};

/**
 * What an entity has in each field that a body leaves out, in the order of its schema: a field without a default is
 * there as undefined, so that what is spread over it keeps that order.
 */
export function defaultsOf<Shape extends z.ZodRawShape>(shape: Shape): Defaults<Shape> {
  const defaultOf = (field: z.core.$ZodType) => (field instanceof z.ZodDefault ? field.def.defaultValue : undefined);
  return Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, defaultOf(field)])) as Defaults<Shape>;
}

type Defaults<Shape extends z.ZodRawShape> = {
  [Name in keyof Shape as Shape[Name] extends z.ZodDefault ? Name : never]: z.output<Shape[Name]>;
};
