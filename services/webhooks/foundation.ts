import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";
import type { Vault } from "@pragma/runtime/vault";
import type { WebhooksConfig } from "./config.ts";
import type { EndpointRules } from "./endpoint/check-endpoint.ts";

/** Tells the time. Whatever is planned or judged by time goes by it, so that tests need not wait. */
export type Clock = () => Date;

/** What everything else in the service is opened with. */
export interface Foundation {
  db: Database;
  log: Logger;
  clock: Clock;
  vault: Vault;
  endpoints: EndpointRules;
  config: WebhooksConfig;
}
