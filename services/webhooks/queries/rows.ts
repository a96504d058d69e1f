import type { Sql, Transaction } from "@pragma/runtime/postgres";

/** What a reply shows, with dates in place of their text. */
export type Dated<Shown, Name extends keyof Shown> = Omit<Shown, Name> & {
  [Each in Name]: null extends Shown[Each] ? Date | null : Date;
};

/** A thing by its id, if it is of this location; of any when that is null. */
export interface Which {
  id: string;
  locationId: string | null;
}

export const isOfLocation = (sql: Sql | Transaction, { locationId }: Pick<Which, "locationId">) =>
  locationId === null ? sql`true` : sql`location_id = ${locationId}`;
