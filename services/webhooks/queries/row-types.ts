import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

/** What a reply shows, with dates in place of their text. */
export type WithDates<Shown, Name extends keyof Shown> = Omit<Shown, Name> & {
  [Each in Name]: null extends Shown[Each] ? Date | null : Date;
};

/** A thing by its id, if it is of this location; of any when that is null. */
export interface LocationScopedId {
  id: string;
  locationId: string | null;
}

export const locationCondition = (
  sql: SqlClient | SqlTransaction,
  { locationId }: Pick<LocationScopedId, "locationId">,
) => (locationId === null ? sql`true` : sql`location_id = ${locationId}`);
