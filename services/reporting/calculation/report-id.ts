import { v5 } from "uuid";

/** Returns the id of a till's report: a UUID v5 of the till's id, so that reprocessing the till keeps it. */
export function reportIdOfTill(tillId: string): string {
  return v5(tillId, v5.URL);
}
