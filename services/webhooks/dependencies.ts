import type { Database } from "@pragma/runtime/database/postgres";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { Encryption } from "@pragma/runtime/security/encryption";
import type { WebhooksServiceConfig } from "./config.ts";
import type { WebhookEndpointRules } from "./endpoints/check-endpoint.ts";

/**
 * Returns the current time. Due times, leases, expiry times and circuit breakers use this clock, so that tests can
 * advance the time. Timers and token buckets do not use this clock.
 */
export type Clock = () => Date;

export interface WebhooksDependencies {
  db: Database;
  log: Logger;
  clock: Clock;
  encryption: Encryption;
  endpointRules: WebhookEndpointRules;
  config: WebhooksServiceConfig;
}
