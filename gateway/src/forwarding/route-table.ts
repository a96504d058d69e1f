import type { ServiceName } from "@pragma/contracts/service-names";

/** The service of each path prefix. No prefix covers `/internal`, so clients cannot reach those routes. */
export const routeTable = {
  "/v1/tills": "till-ingest",
  "/v2/tills": "till-ingest",
  "/v1/reports": "reporting",
  "/v2/reports": "reporting",
  "/v1/orders": "reporting",
  "/v2/orders": "reporting",
  "/v1/accounting": "reporting",
  "/v1/orders-live": "order-live",
  "/v1/catalog": "catalog",
  "/v1/jobs": "jobs",
  "/v1/webhooks": "webhooks",
  "/v1/recipients": "webhooks",
  "/v1/locations": "accounts",
  "/v1/consumers": "accounts",
  "/v1/auth": "accounts",
} as const satisfies Record<`/${string}`, ServiceName>;

/** Paths whose responses stay open until the client closes them, with their prefixes. */
export const routePrefixByStreamPath = {
  "/v1/orders-live/stream": "/v1/orders-live",
} as const satisfies Record<`/${string}`, keyof typeof routeTable>;
