import { routesOf } from "@pragma/runtime/define-route";
import type { Locations } from "@pragma/runtime/locations";
import type { Logger } from "@pragma/runtime/logger";
import type { ObjectStore } from "@pragma/runtime/object-store/object-store";
import type { Database } from "@pragma/runtime/postgres";
import type { TillCalculator } from "./till-calculator.ts";

/** What the reporting service stands on. */
export interface Reporting {
  db: Database;
  log: Logger;
  objects: ObjectStore;
  calculator: TillCalculator;
  locations: Locations;
  /** Of the texts in a page of a list. */
  pageMaxBytes: number;
  /** Has exports made that are written in the database. */
  wakeExports(): void;
  /** How many exports of a location there may be that have not come to their end. */
  maxUnfinishedExports: number;
  /** How long exports and their files are kept. */
  exportsKeptDays: number;
  /** How long what says who ordered is kept, in days; as long as the rest when undefined. */
  personalDataKeptDays: number | undefined;
}

export const defineRoute = routesOf<Reporting>();
