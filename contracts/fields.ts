import { z } from "zod";
import { RequestDateTime, UtcDateTimeSchema } from "./date-time.ts";
import type { RequestIssueCode } from "./errors.ts";

/**
 * The field types of the API's entities, with their limits. Nullable fields of a request body can be absent, because
 * older clients omit them. An absent field is parsed as null.
 */

/** Returns a schema for strings of at most `max` characters. */
export function boundedString(max: number, { min = 0 } = {}): z.ZodString {
  return z.string().check(...lengthChecks(min, max));
}

/** Returns a schema for arrays of at most `max` items. */
export function boundedArray<Item extends z.ZodType>(item: Item, max: number, { min = 0 } = {}): z.ZodArray<Item> {
  return z.array(item).check(...lengthChecks(min, max));
}

/**
 * Returns length checks that ignore every value that is neither a string nor an array. The `.min()` and `.max()` of zod
 * read the `length` of any value, and throw an error if that `length` cannot be compared with a number.
 */
function lengthChecks(minimum: number, maximum: number) {
  const hasLength = ({ value }: { value: unknown }) => typeof value === "string" || Array.isArray(value);
  const max = new z.core.$ZodCheckMaxLength({ check: "max_length", maximum, when: hasLength });
  return minimum > 0 ? [new z.core.$ZodCheckMinLength({ check: "min_length", minimum, when: hasLength }), max] : [max];
}

/** Returns the schema of the names in a table of descriptions. */
export const enumOf = <Name extends string>(descriptions: Record<Name, string>) =>
  z.enum(Object.keys(descriptions) as [Name, ...Name[]]);

/** Returns the names and descriptions as sentences, for the description of a field. */
export const listDescriptions = (descriptions: Record<string, string>) =>
  Object.entries(descriptions)
    .map(([name, description]) => `\`${name}\`: ${description}`)
    .map((text) => (text.endsWith(".") ? text : `${text}.`))
    .join(" ");

/**
 * Adds an issue with a code that requests can have. `received` is what the message is about if it is only a part of the
 * value, as JSON or as a count. The message itself must not contain received values, because usage stores it.
 */
export function addIssue(
  context: z.core.$RefinementCtx,
  code: RequestIssueCode,
  message: string,
  { path = [], received }: { path?: PropertyKey[]; received?: string | number } = {},
): void {
  context.addIssue({ code: "custom", path, params: { code, received }, message });
}

/**
 * Returns a check that reports each array item with the same id as an earlier item. The check also runs if items have
 * other issues, so that one response lists all issues.
 */
export function createUniqueIdsCheck<Field extends string>(itemName: string, idField: Field) {
  const check = z.superRefine<{ [field in Field]?: unknown }[]>((items, context) => {
    const firstIndexById = new Map<string, number>();
    for (const [index, item] of items.entries()) {
      const id = item?.[idField];
      if (typeof id !== "string") continue;
      const firstIndex = firstIndexById.get(id);
      if (firstIndex === undefined) firstIndexById.set(id, index);
      else
        addIssue(context, "duplicate", `Duplicates the ${itemName} at index ${firstIndex}`, { path: [index, idField] });
    }
  });
  check._zod.def.when = (payload) => Array.isArray(payload.value);
  return check;
}

/** Matches NUL and unpaired surrogates. PostgreSQL cannot store these characters, although they are valid in JSON. */
const unstorableCharacter = /[\0\p{Surrogate}]/u;
const unstorableCharacters = new RegExp(unstorableCharacter, "gu");

/** Returns the text without the characters that PostgreSQL cannot store. */
export function stripUnstorableCharacters(textField: string): string {
  return textField.replaceAll(unstorableCharacters, "");
}

/** Returns the schema with a check that reports each string that PostgreSQL cannot store. */
export function withUnstorableTextCheck<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.superRefine((value, context) => {
    const message = "Must not contain NUL characters or unpaired surrogates";
    for (const path of pathsOfUnstorableText(value)) context.addIssue({ code: "custom", path, message });
  });
}

/** Returns the schema of a request body, which reports each string that PostgreSQL cannot store. */
export const requestBodySchema = <Shape extends z.ZodRawShape>(shape: Shape) =>
  withUnstorableTextCheck(z.object(shape));

function pathsOfUnstorableText(value: unknown): PropertyKey[][] {
  if (typeof value === "string") return unstorableCharacter.test(value) ? [[]] : [];
  if (typeof value !== "object" || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, inner]) =>
    pathsOfUnstorableText(inner).map((path) => [isList ? Number(key) : key, ...path]),
  );
}

// The pattern has no flags, because the OpenAPI document contains only the source of a pattern.
const clientGeneratedIdPattern = /^s?[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;

/** Returns the UUID of an id generated by a client, in lower case and without its optional prefix `s`. */
export function normalizeClientGeneratedUuid(id: string): string {
  return (id.length === 37 ? id.slice(1) : id).toLowerCase();
}

/**
 * An id generated by a client: a UUID of any variant, optionally prefixed with `s`. Parsing returns the UUID in lower
 * case without the prefix. Responses contain this parsed id.
 */
export const ClientGeneratedId = z
  .string()
  .regex(clientGeneratedIdPattern, "Must be a UUID, optionally prefixed with s")
  .overwrite(normalizeClientGeneratedUuid)
  .meta({ description: "A UUID, optionally prefixed with `s`", example: "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9" });

/** The maximum amount of one record, in minor units. The sum of 90,000 such amounts is still a safe integer. */
const maxAmount = 100_000_000_000;
const amountSchema = z.int().min(-maxAmount).max(maxAmount);
/** The maximum number of units or guests of one record, much higher than real values. */
const maxUnitCount = 1_000_000;

/** Returns whether a computed amount, such as a price times a quantity, does not exceed the limit for sent amounts. */
export function isAmountInRange(calculated: number): boolean {
  return Math.abs(calculated) <= maxAmount;
}

const inMinorUnits = (description: string) => `${description}, in minor units (1400 means 14.00 EUR, or 1400 JPY)`;

/**
 * The types of described fields. `optional...` is for requests: the field can be null or absent, which is parsed as null.
 * `nullable...` is for responses.
 */
export const field = {
  uuid: (description: string) => z.guid().describe(description),
  nullableUuid: (description: string) => z.guid().nullable().describe(description),
  boolean: (description: string) => z.boolean().describe(description),
  falseByDefault: (description: string) => z.boolean().default(false).describe(description),
  url: (description: string) => z.url().describe(description),
  nullableUrl: (description: string) => z.url().nullable().describe(description),
  date: (description: string) => z.iso.date().describe(description),
  nullableDate: (description: string) => z.iso.date().nullable().describe(description),
  /** A date-time in a response, always in UTC. */
  dateTime: (description: string) => UtcDateTimeSchema.describe(description),
  nullableDateTime: (description: string) => UtcDateTimeSchema.nullable().describe(description),
  /** A date-time in a request. Parsing converts it to UTC. */
  optionalDateTime: (description: string) => nullWhenAbsent(RequestDateTime).describe(description),

  /** An amount of money in a request, in minor currency units (1400 means 14.00 EUR, or 1400 JPY). */
  amount: (description: string) => amountSchema.describe(inMinorUnits(description)),
  optionalAmount: (description: string) => nullWhenAbsent(amountSchema).describe(inMinorUnits(description)),
  /** A computed amount, without a limit, because a sum can exceed the limit of single amounts. */
  computedAmount: (description: string) => z.int().describe(inMinorUnits(description)),

  /** A count or a size, 0 or more. */
  count: (description: string) => z.int().min(0).describe(description),
  nullableCount: (description: string) => z.int().min(0).nullable().describe(description),
  optionalCount: (description: string) => nullWhenAbsent(z.int().min(0)).describe(description),
  /** A number of units or guests. The limit ensures that the sum of such numbers over a till is a safe integer. */
  unitCount: (description: string, { min = 0 } = {}) =>
    z.int().min(min).max(maxUnitCount).meta({ description, example: 1 }),
  signedUnitCount: (description: string) =>
    z.int().min(-maxUnitCount).max(maxUnitCount).meta({ description, example: 1 }),
  integer: (description: string) => z.int().describe(description),
  nullableInteger: (description: string) => z.int().nullable().describe(description),
  positiveInteger: (description: string) => z.int().min(1).describe(description),
  optionalInteger: (description: string) => nullWhenAbsent(z.int()).describe(description),

  /** A text in a response. A missing text is empty. */
  text: (description: string) => z.string().describe(description),
  nullableText: (description: string) => z.string().nullable().describe(description),
  /** A short text such as a name, an address line or an id of another system: at most 1,024 characters. */
  optionalText: (description: string) => nullWhenAbsent(boundedString(1_024)).describe(description),
  /** A long text such as a comment or a card receipt: at most 10,000 characters. */
  optionalLongText: (description: string) => nullWhenAbsent(boundedString(10_000)).describe(description),
  /** The id of a row, unique within its order. */
  orderRowId: (description: string) => boundedString(255, { min: 1 }).describe(description),

  optionalCurrency: () =>
    nullWhenAbsent(z.string().regex(/^[A-Z]{3}$/, "Must be an ISO 4217 currency code, such as EUR")).meta({
      description: "ISO 4217 currency code",
      example: "EUR",
    }),
  /** A VAT rate in percent, as in order rows. Requests often contain it in hundredths of a percent. */
  vatPercent: () =>
    z
      .number()
      .min(0)
      .max(1_000, "Must be a rate in percent, at most 1000: send 10 for 10%, not 1000 (hundredths of a percent)")
      .meta({ description: "VAT rate in percent: 10 means 10%, 5.5 means 5.5%", example: 10 }),
  /** A VAT rate in hundredths of a percent, as in reports. */
  vatBasisPoints: () =>
    z.int().min(0).meta({ description: "VAT rate in hundredths of a percent: 2000 means 20%", example: 1000 }),
};

/** Returns a nullable schema that parses an absent field as null. */
export function nullWhenAbsent<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullable().default(null as never);
}

/**
 * Returns the fields of an entity without their defaults: for responses, which contain all fields, and for requests in
 * which an omitted field is not changed.
 */
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
 * Returns the default of each field, sorted as in the schema. A field without a default is present with the value
 * undefined. If values are spread over the defaults, all fields therefore stay sorted as in the schema.
 */
export function getSchemaFieldDefaults<Shape extends z.ZodRawShape>(shape: Shape): FieldDefaults<Shape> {
  const defaultOf = (field: z.core.$ZodType) => (field instanceof z.ZodDefault ? field.def.defaultValue : undefined);
  return Object.fromEntries(
    Object.entries(shape).map(([name, field]) => [name, defaultOf(field)]),
  ) as FieldDefaults<Shape>;
}

type FieldDefaults<Shape extends z.ZodRawShape> = {
  [Name in keyof Shape as Shape[Name] extends z.ZodDefault ? Name : never]: z.output<Shape[Name]>;
};
