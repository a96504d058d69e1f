import { z } from "zod";

/** A flat object, which is a row of a table in the text of an answer. Amounts are decimal numbers as text. */
export const rowSchema = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

export type Row = z.infer<typeof rowSchema>;

/** A list of rows in an answer. */
export const rowsSchema = z.array(rowSchema);
