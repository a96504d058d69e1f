import type { ServiceName } from "@pragma/contracts/service-names";

/** Which service answers which addresses: everything at and below a prefix. `/internal` is nobody's from outside. */
const upstreams = {
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

/** An entry of the table: the prefix that was matched, and who answers there. */
export interface UpstreamRoute {
  prefix: string;
  service: ServiceName;
}

const longestFirst: UpstreamRoute[] = Object.entries(upstreams)
  .map(([prefix, service]) => ({ prefix, service }))
  .sort((one, other) => other.prefix.length - one.prefix.length);

const slash = "/".charCodeAt(0);

/** The route of a path, by whole segments: `/v1/orders-live` is not below `/v1/orders`. */
export function routeOf(path: string): UpstreamRoute | undefined {
  for (const route of longestFirst) {
    const { prefix } = route;
    if (path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === slash)) {
      return route;
    }
  }
  return undefined;
}
