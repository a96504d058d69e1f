import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

/** A response type whose fields `Name` are `Date`s, as the database returns them, instead of strings. */
export type WithDateFields<Response, Name extends keyof Response> = Omit<Response, Name> & {
  [Field in Name]: null extends Response[Field] ? Date | null : Date;
};

/** An id, and the location to which the row must belong; null allows all locations. */
export interface LocationScopedId {
  id: string;
  locationId: string | null;
}

/** Returns the condition that a row belongs to the location. */
export const locationCondition = (
  sql: SqlClient | SqlTransaction,
  { locationId }: Pick<LocationScopedId, "locationId">,
) => (locationId === null ? sql`true` : sql`location_id = ${locationId}`);
