import { routesOf } from "@pragma/runtime/define-route";
import type { Locations } from "@pragma/runtime/locations";
import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";
import type { Vault } from "@pragma/runtime/vault";
import type { Clock } from "./clock.ts";
import type { Wake } from "./delivering/open-delivering.ts";
import type { EndpointRules } from "./endpoint/check-endpoint.ts";
import type { MessageBatcher } from "./message-batcher.ts";

/** What the webhooks service stands on. */
export interface Webhooks {
  db: Database;
  log: Logger;
  clock: Clock;
  vault: Vault;
  locations: Locations;
  endpoints: EndpointRules;
  wake: Wake;
  messages: MessageBatcher;
  /** How long a delivery is a worker's before it is presumed dead, in milliseconds. */
  claimedFor: number;
  /** How many recipients and webhooks a location may have. */
  maxRecipients: number;
  maxWebhooks: number;
  /** How long messages and the log of their deliveries are kept. */
  keptDays: number;
}

export const defineRoute = routesOf<Webhooks>();
