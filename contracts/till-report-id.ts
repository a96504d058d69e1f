import { v5 } from "uuid";

/** Returns the id of a till's report: a UUID v5 of the till's id, so that it stays the same after reprocessing. */
export function computeTillReportId(tillId: string): string {
  return v5(tillId, v5.URL);
}
