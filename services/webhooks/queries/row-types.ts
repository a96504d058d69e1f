import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

/** A response type whose fields `Name` are `Date` objects instead of strings, because the database returns dates. */
export type WithDateFields<Response, Name extends keyof Response> = Omit<Response, Name> & {
  [Field in Name]: null extends Response[Field] ? Date | null : Date;
};

/** The id of a row, and the id of the location to which it must belong. A null `locationId` allows all locations. */
export interface LocationScopedId {
  id: string;
  locationId: string | null;
}

/** Returns the SQL condition that a row belongs to the location, or to any location if the id is null. */
export const locationCondition = (
  sql: SqlClient | SqlTransaction,
  { locationId }: Pick<LocationScopedId, "locationId">,
) => (locationId === null ? sql`true` : sql`location_id = ${locationId}`);
