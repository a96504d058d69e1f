import { routesOf } from "@pragma/runtime/define-route";
import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";

/** What the accounts service stands on. */
export interface Accounts {
  db: Database;
  log: Logger;
}

export const defineRoute = routesOf<Accounts>();
