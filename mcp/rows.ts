import { z } from "zod";
import { cleanText, formatAmount, formatLocalTime } from "./format-text.ts";

/** A flat object, which is a row of a table in the text of an answer. Amounts are decimal numbers as text. */
export const rowSchema = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));
export type Row = z.infer<typeof rowSchema>;
export const rowsSchema = z.array(rowSchema);

export const maxRows = 50;

export interface Units {
  currency: string | null;
  timeZone: string | null;
}

type KeyOf<Item, Value> = { [Key in keyof Item]: Item[Key] extends Value ? Key : never }[keyof Item];

/** The fields of an object of the API that an answer contains, by their kind. */
interface Fields<Item> {
  times?: KeyOf<Item, string | null>[];
  /** Texts that people entered. */
  names?: KeyOf<Item, string | null>[];
  values?: KeyOf<Item, string | number | null>[];
  /** Tax rates in hundredths of a percent. */
  rates?: KeyOf<Item, number>[];
  amounts?: KeyOf<Item, number | null>[];
}

/** Returns fields of an object of the API, under the names that they have there, in the units of the answer. */
export function pickFields<Item extends object>(item: Item, fields: Fields<Item>, { currency, timeZone }: Units): Row {
  const { times = [], names = [], values = [], rates = [], amounts = [] } = fields;
  return Object.fromEntries([
    ...times.map((key) => [key, formatLocalTime(item[key] as string | null, timeZone)]),
    ...names.map((key) => [key, item[key] && cleanText(item[key] as string)]),
    ...values.map((key) => [key, item[key]]),
    ...rates.map((key) => [key, `${(item[key] as number) / 100}%`]),
    ...amounts.map((key) => [key, formatAmount(item[key] as number | null, currency)]),
  ]);
}

/** Returns fields of the first `maxRows` objects: see `pickFields`. */
export const pickRows = <Item extends object>(items: readonly Item[], fields: Fields<Item>, units: Units): Row[] =>
  items.slice(0, maxRows).map((item) => pickFields(item, fields, units));
