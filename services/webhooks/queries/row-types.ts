import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

/** A response type whose fields `Name` are `Date`s, as they come from the database, instead of strings. */
export type WithDateFields<Response, Name extends keyof Response> = Omit<Response, Name> & {
  [Field in Name]: null extends Response[Field] ? Date | null : Date;
};

/** An id together with the location that the row must belong to; null allows every location. */
export interface LocationScopedId {
  id: string;
  locationId: string | null;
}

/** Returns the condition that a row belongs to the location. */
export const locationCondition = (
  sql: SqlClient | SqlTransaction,
  { locationId }: Pick<LocationScopedId, "locationId">,
) => (locationId === null ? sql`true` : sql`location_id = ${locationId}`);
