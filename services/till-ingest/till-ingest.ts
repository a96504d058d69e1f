import type { DailyQuota } from "@pragma/runtime/daily-quota";
import { routesOf } from "@pragma/runtime/define-route";
import type { Locations } from "@pragma/runtime/locations";
import type { Logger } from "@pragma/runtime/logger";
import type { ObjectStore } from "@pragma/runtime/object-store/object-store";
import type { Database } from "@pragma/runtime/postgres";
import type { LegacySettings } from "./legacy/legacy-config.ts";
import type { openTillReader } from "./till-body.ts";
import type { TillQuotas } from "./till-quotas.ts";

/** What the till-ingest service stands on. */
export interface TillIngest {
  db: Database;
  log: Logger;
  objects: ObjectStore;
  locations: Locations;
  reader: ReturnType<typeof openTillReader>;
  /** Has the tills of new reprocessings announced. */
  wakeReprocessing(): void;
  /** How long a till may be without its result before it is announced again, in seconds. */
  sweepAfter: number;
  quotas: TillQuotas;
  /** How many replacements and reprocessings of tills a location may ask for in a day. */
  revisionQuota: DailyQuota;
  legacy: LegacySettings;
  /** How long bodies are kept that others took the place of, in days; for ever when undefined. */
  replacedKeptDays: number | undefined;
}

export const defineRoute = routesOf<TillIngest>();
