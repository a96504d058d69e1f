import { boundedString } from "@pragma/contracts/fields";
import type { SqlClient, SqlFragment } from "@pragma/runtime/database/postgres";

/** Returns the schema of a query parameter that selects items whose name contains a text. */
export const nameFilterQueryParameter = (description: string) =>
  boundedString(255, { min: 2 })
    .regex(/^[^\0]*$/, "Must not contain NUL characters")
    .optional()
    .meta({ description, example: "bistrot" });

/** Returns the condition that a column contains `text`, in upper or lower case; true without a text. */
export function containsText(sql: SqlClient, column: SqlFragment, text: string | undefined): SqlFragment {
  return text === undefined ? sql`true` : sql`strpos(lower(${column}), lower(${text})) > 0`;
}
