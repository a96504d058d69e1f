import { createRouteDefiner, type RouteDefinition } from "@pragma/runtime/http/define-route";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import type { z } from "zod";
import type { ChangeWaiters } from "./changes/change-waiters.ts";
import type { WebhookDeliveryWorker } from "./deliveries/delivery-worker.ts";
import type { WebhooksDependencies } from "./dependencies.ts";
import type { WebhookMessageEnqueuer } from "./messages/message-enqueuer.ts";

/** The resources that routes, subscriptions and periodic tasks of the webhooks service use. */
export interface WebhooksServiceContext extends WebhooksDependencies {
  locations: LocationLookupClient;
  deliveryWorker: WebhookDeliveryWorker;
  messageEnqueuer: WebhookMessageEnqueuer;
  changeWaiters: ChangeWaiters;
}

const webhooksRouteDefaults = { tag: "Webhooks", audience: "public", scope: "webhooks:write" } as const;

type RouteFieldsSchema = z.ZodObject | undefined;

/** Returns a route of the webhooks service, with the tag, audience and scope that all its routes share. */
export function defineWebhooksRoute<
  Params extends RouteFieldsSchema = undefined,
  Query extends RouteFieldsSchema = undefined,
  Body = undefined,
>(definition: Omit<RouteDefinition<Params, Query, Body, WebhooksServiceContext>, keyof typeof webhooksRouteDefaults>) {
  return createRouteDefiner<WebhooksServiceContext>()<Params, Query, Body>({ ...webhooksRouteDefaults, ...definition });
}
