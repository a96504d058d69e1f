import { hash } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope, type Scope } from "@pragma/contracts/scopes";
import { Hono } from "hono";
import type { z } from "zod";
import type { KeyedSemaphore } from "../concurrency/semaphore.ts";
import { RequestBodyMemoryReservation } from "../limits/request-body-memory.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/metrics.ts";
import { type RequestContext, runWithRequestContext } from "../observability/request-context.ts";
import { markSpanFailed, SpanKind } from "../observability/tracing.ts";
import { type Route, type RouteDeprecation, RouteInput, type RouteScope } from "./define-route.ts";
import { createErrorResponse } from "./error-response.ts";
import type { IdempotencyHandler } from "./idempotency.ts";
import { readRequestBody } from "./read-body.ts";
import {
  getRequestHeader,
  type RequestIdentity,
  type ServiceBindings,
  type ServiceFetch,
  type ServiceHonoContext,
} from "./request-identity.ts";
import { createInvalidRequestError, IssueCollector, throwIfInvalid } from "./request-issues.ts";
import { type RouteResponse, toFetchResponse } from "./route-response.ts";
import type { UnreadResponseLimit } from "./unread-response-limit.ts";

interface ServiceAppOptions<Services> {
  service: string;
  routes: Route<Services>[];
  services: Services;
  handleOnce: IdempotencyHandler;
  replies: UnreadResponseLimit;
  /** Of each location: so many requests that change something are handled at a time, the others wait. */
  writes: KeyedSemaphore;
  log: Logger;
  metrics: Metrics;
}

/** Returns the HTTP side of a service: a Hono app over its routes. */
export function createServiceApp<Services>(options: ServiceAppOptions<Services>): ServiceFetch {
  const app = new Hono<{ Bindings: ServiceBindings }>({ strict: false });
  for (const route of options.routes) {
    // `/v1/tills/{id}/` is `/v1/tills/:id` to Hono.
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1").replace(/(?<=.)\/$/, "");
    app.on(route.method.toUpperCase(), path, (hono) => serveRequest(hono, route, options));
  }
  app.notFound((hono) => serveRequest(hono, createUnmatchedRoute(app, hono.req.path), options));
  return (request, bindings = {}) => app.fetch(request, bindings);
}

/** What is needed of a route to serve it. */
type ServableRoute<Services> = Pick<Route<Services>, "path" | "handle"> & Partial<Route<Services>>;

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Returns what answers where there is no route: 405 where another method is served, else 404. */
function createUnmatchedRoute(app: Hono<{ Bindings: ServiceBindings }>, path: string): ServableRoute<unknown> {
  const served = methods.filter((method) => app.router.match(method, path)[0].length > 0);
  const allowed = served.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
  return {
    path: "/*",
    async handle() {
      if (allowed === "") throw new ApiError("route_not_found");
      throw new ApiError("method_not_allowed", {
        detail: `This address answers ${allowed}.`,
        headers: { allow: allowed },
      });
    },
  };
}

async function serveRequest<Services>(
  hono: ServiceHonoContext,
  route: ServableRoute<Services>,
  options: ServiceAppOptions<Services>,
): Promise<Response> {
  const { service, log, metrics } = options;
  const started = performance.now();
  const { caller } = hono.env;
  const { method, path } = hono.req;
  const identity = {
    requestId: caller?.requestId,
    traceparent: caller?.traceparent,
    operation: { name: `${method} ${route.path}`, kind: SpanKind.SERVER },
  };
  return runWithRequestContext(identity, async (context) => {
    const { requestId, traceId, span, logFields } = context;
    let reply: RouteResponse;
    try {
      if (!caller) {
        throw new ApiError("key_missing", { detail: "Requests to this service come through the gateway." });
      }
      reply = await handleRequest(hono, route, { ...options, caller, context });
    } catch (error) {
      reply = createErrorResponse(error, { requestId, log, logFields });
    }
    const { status } = reply;
    const seconds = (performance.now() - started) / 1000;
    if (span.isRecording()) {
      span.setAttributes({
        "pragma.service": service,
        "pragma.request_id": requestId,
        "http.request.method": method,
        "http.route": route.path,
        "http.response.status_code": status,
      });
      if (status >= 500) markSpanFailed(span, `answered ${status}`);
    }
    metrics.recordRequestDuration(seconds, { service, route: route.path, method, status });
    if (caller?.logFields) Object.assign(caller.logFields, { operation: route.path }, logFields);
    else {
      const fields = { requestId, traceId, method, route: route.path, path, status };
      log.info({ ...fields, milliseconds: seconds * 1000, ...logFields }, "request");
    }
    if (route.deprecation)
      reply = { ...reply, headers: { ...reply.headers, ...buildDeprecationHeaders(route.deprecation) } };
    return toFetchResponse(reply, method);
  });
}

interface RequestHandlingOptions<Services> extends ServiceAppOptions<Services> {
  caller: RequestIdentity;
  context: RequestContext;
}

/** Reads the request and has the route handle it; a POST that carries an Idempotency-Key is handled once. */
async function handleRequest<Services>(
  hono: ServiceHonoContext,
  route: ServableRoute<Services>,
  { caller, context, services, handleOnce, replies, writes }: RequestHandlingOptions<Services>,
): Promise<RouteResponse> {
  const { principal } = caller;
  const { keyId, consumer, scopes, location } = principal;
  context.addLogFields({ consumer, keyId, locationId: location?.id });
  if (route.scope) requireScope(scopes, route.scope);
  const { method } = hono.req;
  const isSafe = method === "GET" || method === "HEAD";
  // What has had its effect is not refused afterwards.
  if (!isSafe) replies.requireCapacity(keyId);
  const key = route.method === "post" ? readIdempotencyKey(hono) : undefined;
  const sender = getSenderId(principal);
  const allowance = new RequestBodyMemoryReservation(sender);
  let releaseWrite: (() => void) | undefined;
  try {
    const reader = route.request?.body;
    let bytes = reader && (await readJsonBytes(hono, reader.maxBytes, allowance));
    // Before the body is parsed: what a request weighs then is many times its bytes.
    if (!isSafe) releaseWrite = await writes.acquire(sender);
    // Now or never: reading may hand the bytes over to a thread.
    const idempotentRequest =
      key === undefined ? undefined : { key, body: bytes ? hash("sha256", bytes, "buffer") : new Uint8Array() };
    const reading = parseRouteInput(hono, route, { bytes, sender, services });
    // While the request is handled nothing holds its bytes, unless what was read of them does.
    bytes = undefined;
    const input = new RouteInput({ ...(await reading), services, context }, caller, hono);
    let reply: RouteResponse;
    if (idempotentRequest) {
      const { pathname, search } = input.url;
      const operation = `POST ${pathname.replace(/\/$/, "")}${search}`;
      reply = await handleOnce({ ...idempotentRequest, principal, operation }, (db) => {
        if (!route.isIdempotent) input.services = { ...services, db };
        return route.handle(input);
      });
    } else reply = await route.handle(input);
    replies.trackResponse(reply, { keyId, isRefusable: isSafe, outgoing: hono.env.outgoing });
    return reply;
  } finally {
    allowance.release();
    releaseWrite?.();
  }
}

/** Returns the body of a request whole. */
async function readJsonBytes(
  hono: ServiceHonoContext,
  limit: number | undefined,
  allowance: RequestBodyMemoryReservation,
): Promise<Uint8Array> {
  const type = getRequestHeader(hono, "content-type");
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new ApiError("unsupported_media_type", {
      detail: `The content type ${type} is not supported: send application/json.`,
      headers: { accept: "application/json" },
    });
  }
  const { incoming } = hono.env;
  return incoming ? readRequestBody(incoming, { allowance, limit }) : new Uint8Array();
}

/** Checks every part of the request, so that all faults are reported at once. */
async function parseRouteInput<Services>(
  { req }: ServiceHonoContext,
  { request: expected }: ServableRoute<Services>,
  { bytes, sender, services }: { bytes: Uint8Array | undefined; sender: string; services: Services },
) {
  const issues = new IssueCollector();
  const parsePart = (part: "path" | "query", schema: z.ZodObject, input: Record<string, unknown>) => {
    const { error, data = {} } = schema.safeParse(input);
    issues.addZodError(error, input, "", part);
    return data;
  };
  const params = expected?.params ? parsePart("path", expected.params, req.param()) : {};
  const query = expected?.query ? parsePart("query", expected.query, parseQuery(new URL(req.raw.url))) : {};
  let body: unknown;
  if (expected?.body && bytes) {
    const result = await expected.body.parse(bytes, services, sender);
    if ("issues" in result) issues.addIssues(result);
    else body = result.value;
  }
  throwIfInvalid(issues.issues, issues.count);
  return { params, query, body };
}

/** Each parameter's first value: one that is repeated is not a list here. */
function parseQuery(url: URL): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) query[name] ??= value;
  return query;
}

/** Returns whose share of a service's memory and connections a request takes: its location's, or its key's. */
function getSenderId({ location, keyId }: Principal): string {
  return location?.id ?? keyId;
}

function readIdempotencyKey(hono: ServiceHonoContext): string | undefined {
  const key = getRequestHeader(hono, "idempotency-key");
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  const message = "must be 1 to 255 visible ASCII characters";
  throw createInvalidRequestError([{ in: "header", path: "idempotency-key", code: "invalid_format", message }]);
}

function requireScope(granted: readonly string[], scope: RouteScope): void {
  const isAllowed = scope.startsWith("internal:") ? granted.includes(scope) : hasScope(granted, scope as Scope);
  if (!isAllowed) {
    throw new ApiError("scope_missing", {
      detail: `This operation needs the scope ${scope}; the key's consumer has: ${granted.join(", ") || "none"}.`,
    });
  }
}

/** What replies of a route that is to go say: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and where to go instead. */
function buildDeprecationHeaders({ deprecated, sunset, successor }: RouteDeprecation): Record<string, string> {
  return {
    deprecation: `@${Date.parse(deprecated) / 1000}`,
    sunset: new Date(sunset).toUTCString(),
    ...(successor && { link: `<${successor}>; rel="successor-version"` }),
  };
}
