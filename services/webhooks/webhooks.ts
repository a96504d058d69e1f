import { type RouteDefinition, routesOf } from "@pragma/runtime/define-route";
import type { Locations } from "@pragma/runtime/locations";
import type { z } from "zod";
import type { Delivering } from "./delivering/open-delivering.ts";
import type { Foundation } from "./foundation.ts";
import type { MessageBatcher } from "./message-batcher.ts";

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
