import type { RateLimit } from "@pragma/contracts/consumer";
import { routesOf } from "@pragma/runtime/define-route";
import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";

/** What the accounts service stands on. */
export interface Accounts {
  db: Database;
  log: Logger;
  /** The rate limit of a key whose consumer has none of its own. */
  defaultRateLimit: RateLimit;
}

export const defineRoute = routesOf<Accounts>();
