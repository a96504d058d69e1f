import type { GatewayMiddleware } from "./gateway-request.ts";

const preflightHeaders = {
  "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
  "access-control-allow-headers":
    "authorization, content-type, content-encoding, idempotency-key, if-match, if-none-match, if-range, last-event-id, " +
    "mcp-method, mcp-name, mcp-protocol-version, prefer, range, traceparent, tracestate, x-request-id",
  /** The seconds for which a browser may cache a preflight response: the maximum that Chrome accepts. */
  "access-control-max-age": "7200",
};
const exposedHeaders =
  "accept-ranges, allow, api-key-expires-at, content-disposition, content-range, deprecation, etag, idempotency-replayed, link, location, " +
  "preference-applied, ratelimit-limit, ratelimit-policy, ratelimit-remaining, ratelimit-reset, retry-after, sunset, " +
  "x-ignored-parameters, x-skipped-orders, x-request-id";

/**
 * Returns middleware that allows web pages of these origins to call the API. `*` allows all origins, which is safe
 * because keys are sent in a header and never in cookies.
 */
export function createCorsMiddleware(origins: string[]): GatewayMiddleware {
  const allowed = new Set(origins);
  const isAnyOrigin = allowed.has("*");
  return async (context, next) => {
    // Sets headers on Node's response, because streamed responses do not use Hono's response.
    const { incoming, outgoing } = context.env;
    outgoing.setHeader("vary", "origin");
    const { origin, "access-control-request-method": requestedMethod } = incoming.headers;
    const isAllowed = origin !== undefined && (isAnyOrigin || allowed.has(origin));
    if (isAllowed) {
      outgoing.setHeader("access-control-allow-origin", isAnyOrigin ? "*" : origin);
      outgoing.setHeader("access-control-expose-headers", exposedHeaders);
    }
    const isPreflight = incoming.method === "OPTIONS" && origin !== undefined && requestedMethod !== undefined;
    if (!isPreflight) return next();
    return new Response(null, { status: 204, headers: isAllowed ? preflightHeaders : {} });
  };
}
