import type { Database } from "@pragma/runtime/database/postgres";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { Encryption } from "@pragma/runtime/security/encryption";
import type { WebhooksConfig } from "./config.ts";
import type { WebhookEndpointRules } from "./endpoints/check-endpoint.ts";

/** Returns the current time. All code that depends on the time uses this clock, so that tests can advance the time. */
export type Clock = () => Date;

/** The dependencies that all parts of the webhooks service share. */
export interface WebhooksDependencies {
  db: Database;
  log: Logger;
  clock: Clock;
  encryption: Encryption;
  endpointRules: WebhookEndpointRules;
  config: WebhooksConfig;
}
