import type { TokenBucketRate } from "@pragma/runtime/admission/token-bucket";
import { readApiKeyHeader } from "../auth/api-key-header.ts";
import { routeTable } from "../forwarding/route-table.ts";
import type { GatewayMiddleware } from "../server/gateway-request.ts";
import { ClientAddressTokenBuckets } from "./address-token-buckets.ts";

const routePrefixes = Object.keys(routeTable);

/** Returns whether requests to a path must be authenticated by an API key. */
function requiresKey(path: string): boolean {
  const isAt = (prefix: string) => path === prefix || path.startsWith(`${prefix}/`);
  return isAt("/openapi.full.json") || routePrefixes.some(isAt);
}

/** Returns middleware that limits unauthenticated requests by client address. Other requests are limited by API key. */
export function createKeylessRequestLimit(rate: TokenBucketRate): GatewayMiddleware {
  const buckets = new ClientAddressTokenBuckets(rate);
  const errorDetails = {
    detail: `Requests without an API key are limited to ${rate.perSecond} per second per IP address, with bursts of up to ${rate.burst}.`,
    limit: { name: "keyless_requests", maximum: rate.perSecond, unit: "requests per second" },
  };
  return async (context, next) => {
    const request = context.get("request");
    const { method, headers } = request.incoming;
    const hasKey = readApiKeyHeader(headers.authorization) !== undefined && method !== "OPTIONS" && method !== "TRACE";
    if (hasKey && requiresKey(request.path)) return next();
    buckets.takeOrThrow(request.clientAddress, errorDetails);
    return next();
  };
}
