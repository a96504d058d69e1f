import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner, type RouteDefinition } from "@pragma/runtime/http/define-route";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { Encryption } from "@pragma/runtime/security/encryption";
import type { LocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import type { z } from "zod";
import type { WebhooksConfig } from "./config.ts";
import type { DeliveryWorker } from "./deliveries/delivery-worker.ts";
import type { EndpointRules } from "./endpoints/check-endpoint.ts";
import type { MessageBatcher } from "./messages/message-batcher.ts";

/** Tells the time. Whatever is planned or judged by time goes by it, so that tests need not wait. */
export type Clock = () => Date;

/** What everything else in the service is opened with. */
export interface WebhooksBaseContext {
  db: Database;
  log: Logger;
  clock: Clock;
  encryption: Encryption;
  endpointRules: EndpointRules;
  config: WebhooksConfig;
}

/** What the webhooks service stands on. */
export interface WebhooksContext extends WebhooksBaseContext {
  locations: LocationLookup;
  deliveryWorker: DeliveryWorker;
  messageBatcher: MessageBatcher;
}

/** What all routes of the service have in common. */
const webhooksRouteDefaults = { tag: "Webhooks", audience: "public", scope: "webhooks:write" } as const;

type RouteFieldsSchema = z.ZodObject | undefined;

export function defineWebhooksRoute<
  Params extends RouteFieldsSchema = undefined,
  Query extends RouteFieldsSchema = undefined,
  Body = undefined,
>(definition: Omit<RouteDefinition<Params, Query, Body, WebhooksContext>, keyof typeof webhooksRouteDefaults>) {
  return createRouteDefiner<WebhooksContext>()<Params, Query, Body>({ ...webhooksRouteDefaults, ...definition });
}
