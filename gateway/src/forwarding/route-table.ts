import type { ServiceName } from "@pragma/contracts/service-names";

/** The service for each path prefix. `/internal` is not included, so that clients cannot call internal routes. */
export const routeTable = {
  "/v1/tills": "till-ingest",
  "/v2/tills": "till-ingest",
  "/v1/reports": "reporting",
  "/v2/reports": "reporting",
  "/v1/days": "reporting",
  "/v1/metrics": "reporting",
  "/v1/orders": "reporting",
  "/v2/orders": "reporting",
  "/v1/accounting": "reporting",
  "/v1/e-reporting": "reporting",
  "/v1/e-reports": "reporting",
  "/v1/exports": "reporting",
  "/v1/orders-live": "order-live",
  "/v1/catalog": "catalog",
  "/v1/jobs": "jobs",
  "/v1/webhooks": "webhooks",
  "/v1/recipients": "webhooks",
  "/v1/changes": "webhooks",
  "/v1/locations": "accounts",
  "/v1/consumers": "accounts",
  "/v1/auth": "accounts",
  "/v1/usage": "accounts",
  "/v1/audit": "accounts",
  "/v1/sandboxes": "sandboxes",
  "/v1/erasures": "reporting",
  // The third segment names the service. Requests with an unknown name need a service, too, which rejects them.
  "/v1/services": "accounts",
} as const satisfies Record<`/${string}`, ServiceName>;

/** The routes that need no API key. They are limited by client address only, whether or not a key is sent. */
export const keylessRoutes = [{ method: "POST", path: "/v1/sandboxes" }] as const satisfies {
  method: string;
  path: keyof typeof routeTable;
}[];

/** The prefix of the paths that every service serves. The next segment of the path names the service. */
export const servicesPath = "/v1/services" satisfies keyof typeof routeTable;

/** The path of the daily quotas of all services, which the gateway itself provides. */
export const quotasPath = `${servicesPath}/quotas` as const;

/** Returns the first two segments of a path, as in the prefixes of the route table. */
export const getRoutePrefix = (path: string): string => path.split("/", 3).join("/");

/** The path of the MCP server, which the gateway itself provides. */
export const mcpPath = "/mcp";

/**
 * The paths on which a request with the query parameter `wait` waits for a change. As for streams, such requests do not
 * use the connections of other requests, and end when their API key is revoked or the gateway stops.
 */
export const waitingPaths = ["/v1/changes"] as const satisfies (keyof typeof routeTable)[];

/** The route prefix for each path that responds with a stream, which stays open until the client disconnects. */
export const routePrefixByStreamPath = {
  "/v1/orders-live/stream": "/v1/orders-live",
} as const satisfies Record<`/${string}`, keyof typeof routeTable>;
