import { v5 } from "uuid";

/** The id of a till's report: a UUID v5 of the till's id, so that processing the till again keeps it. */
export function reportIdOfTill(tillId: string): string {
  return v5(tillId, v5.URL);
}
