import { type RouteDefinition, routesOf } from "@pragma/runtime/define-route";
import type { Locations } from "@pragma/runtime/locations";
import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";
import type { Vault } from "@pragma/runtime/vault";
import type { z } from "zod";
import type { Clock } from "./clock.ts";
import type { WebhooksConfig } from "./config.ts";
import type { Delivering } from "./delivering/open-delivering.ts";
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
  delivering: Delivering;
  messages: MessageBatcher;
  config: WebhooksConfig;
}

/** What all routes of the service have in common. */
const common = { tag: "Webhooks", audience: "public", scope: "webhooks:write" } as const;

type Fields = z.ZodObject | undefined;

export function defineRoute<Params extends Fields = undefined, Query extends Fields = undefined, Body = undefined>(
  definition: Omit<RouteDefinition<Params, Query, Body, Webhooks>, keyof typeof common>,
) {
  return routesOf<Webhooks>()<Params, Query, Body>({ ...common, ...definition });
}
