import type { RateLimit } from "@pragma/contracts/api-consumer";
import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { SendBusRequest } from "@pragma/runtime/messaging/bus-requests";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { AccountsServiceConfig } from "./config.ts";

/** An API entity from PostgreSQL, with `Date` objects for times. JSON converts these to the API's date-time format. */
export type ApiEntityRowWithDates<Entity> = {
  [Name in keyof Entity]: Name extends `${string}At` ? Exclude<Entity[Name], string> | Date : Entity[Name];
};

export interface AccountsServiceContext {
  db: Database;
  log: Logger;
  sendBusRequest: SendBusRequest;
  /** The rate limit of keys whose consumer has no rate limit of its own. */
  defaultRateLimit: RateLimit;
  config: AccountsServiceConfig;
}

export const defineAccountsRoute = createRouteDefiner<AccountsServiceContext>();
