import { z } from "zod";
import { limitedText } from "./length-limits.ts";

/**
 * The kinds of field that entities are made of, each with its limits. A field that may be null may also be absent,
 * which older clients do: it then is null.
 */

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
