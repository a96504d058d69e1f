import { type RouteDefinition, routesOf } from "@pragma/runtime/define-route";
import type { Locations } from "@pragma/runtime/locations";
import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";
import type { Vault } from "@pragma/runtime/vault";
import type { z } from "zod";
import type { WebhooksConfig } from "./config.ts";
import type { Delivering } from "./delivering/open-delivering.ts";
import type { EndpointRules } from "./endpoint/check-endpoint.ts";
import type { MessageBatcher } from "./message-batcher.ts";

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

/** What the webhooks service stands on. */
export interface Webhooks extends Foundation {
  locations: Locations;
  delivering: Delivering;
  messages: MessageBatcher;
}

/** What all routes of the service have in common. */
const common = { tag: "Webhooks", audience: "public", scope: "webhooks:write" } as const;

type Fields = z.ZodObject | undefined;

export function defineRoute<Params extends Fields = undefined, Query extends Fields = undefined, Body = undefined>(
  definition: Omit<RouteDefinition<Params, Query, Body, Webhooks>, keyof typeof common>,
) {
  return routesOf<Webhooks>()<Params, Query, Body>({ ...common, ...definition });
}
