import { hash } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows, type Scope } from "@pragma/contracts/scopes";
import { Hono } from "hono";
import type { z } from "zod";
import { type Caller, headerOf, type ServiceBindings, type ServiceContext, type ServiceFetch } from "./caller.ts";
import { type Retirement, type Route, RouteInput, type RouteScope } from "./define-route.ts";
import { replyToError } from "./error-reply.ts";
import { FoundFaults, invalidRequest, refuseFaults } from "./faults.ts";
import type { HandleOnce } from "./idempotency.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import { readBody } from "./read-body.ts";
import { Allowance } from "./receiving-budget.ts";
import { type Reply, responseOf } from "./reply.ts";
import type { ReplyBudget } from "./reply-budget.ts";
import { type RequestContext, withRequestContext } from "./request-context.ts";
import type { Semaphore } from "./semaphore.ts";
import { failSpan, SpanKind } from "./tracing.ts";

interface ServiceAppOptions<Services> {
  service: string;
  routes: Route<Services>[];
  services: Services;
  handleOnce: HandleOnce;
  replies: ReplyBudget;
  /** Of each location: so many requests that change something are handled at a time, the others wait. */
  writes: Semaphore;
  log: Logger;
  metrics: Metrics;
}

/** Returns the HTTP side of a service: a Hono app over its routes. */
export function createServiceApp<Services>(options: ServiceAppOptions<Services>): ServiceFetch {
  const app = new Hono<{ Bindings: ServiceBindings }>({ strict: false });
  for (const route of options.routes) {
    // `/v1/tills/{id}/` is `/v1/tills/:id` to Hono.
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1").replace(/(?<=.)\/$/, "");
    app.on(route.method.toUpperCase(), path, (hono) => serve(hono, route, options));
  }
  app.notFound((hono) => serve(hono, unserved(app, hono.req.path), options));
  return (request, bindings = {}) => app.fetch(request, bindings);
}

/** What is needed of a route to serve it. */
type Servable<Services> = Pick<Route<Services>, "path" | "handle"> & Partial<Route<Services>>;

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Returns what answers where there is no route: 405 where another method is served, else 404. */
function unserved(app: Hono<{ Bindings: ServiceBindings }>, path: string): Servable<unknown> {
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

async function serve<Services>(
  hono: ServiceContext,
  route: Servable<Services>,
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
  return withRequestContext(identity, async (context) => {
    const { requestId, traceId, span, logFields } = context;
    let reply: Reply;
    try {
      if (!caller) {
        throw new ApiError("key_missing", { detail: "Requests to this service come through the gateway." });
      }
      reply = await handle(hono, route, { ...options, caller, context });
    } catch (error) {
      reply = replyToError(error, { requestId, log, logFields });
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
      if (status >= 500) failSpan(span, `answered ${status}`);
    }
    metrics.requestServed(seconds, { service, route: route.path, method, status });
    if (caller?.logFields) Object.assign(caller.logFields, { operation: route.path }, logFields);
    else {
      const fields = { requestId, traceId, method, route: route.path, path, status };
      log.info({ ...fields, milliseconds: seconds * 1000, ...logFields }, "request");
    }
    if (route.retirement) reply = { ...reply, headers: { ...reply.headers, ...retirementHeaders(route.retirement) } };
    return responseOf(reply, method);
  });
}

interface Handling<Services> extends ServiceAppOptions<Services> {
  caller: Caller;
  context: RequestContext;
}

/** Reads the request and has the route handle it; a POST that carries an Idempotency-Key is handled once. */
async function handle<Services>(
  hono: ServiceContext,
  route: Servable<Services>,
  { caller, context, services, handleOnce, replies, writes }: Handling<Services>,
): Promise<Reply> {
  const { principal } = caller;
  const { keyId, consumer, scopes, location } = principal;
  context.addToLog({ consumer, keyId, locationId: location?.id });
  if (route.scope) requireScope(scopes, route.scope);
  const { method } = hono.req;
  const isSafe = method === "GET" || method === "HEAD";
  // What has had its effect is not refused afterwards.
  if (!isSafe) replies.requireRoom(keyId);
  const key = route.method === "post" ? idempotencyKeyOf(hono) : undefined;
  const sender = senderOf(principal);
  const allowance = new Allowance(sender);
  let endWrite: (() => void) | undefined;
  try {
    const reader = route.request?.body;
    let bytes = reader && (await readBytes(hono, reader.limit, allowance));
    // Before the body is parsed: what a request weighs then is many times its bytes.
    if (!isSafe) endWrite = await writes.acquire(sender);
    // Now or never: reading may hand the bytes over to a thread.
    const repeated =
      key === undefined ? undefined : { key, body: bytes ? hash("sha256", bytes, "buffer") : new Uint8Array() };
    const reading = readInput(hono, route, { bytes, sender, services });
    // While the request is handled nothing holds its bytes, unless what was read of them does.
    bytes = undefined;
    const input = new RouteInput({ ...(await reading), services, context }, caller, hono);
    let reply: Reply;
    if (repeated) {
      const { pathname, search } = input.url;
      const operation = `POST ${pathname.replace(/\/$/, "")}${search}`;
      reply = await handleOnce({ ...repeated, principal, operation }, (db) => {
        if (!route.isRepeatable) input.services = { ...services, db };
        return route.handle(input);
      });
    } else reply = await route.handle(input);
    replies.hold(reply, { keyId, isRefusable: isSafe, outgoing: hono.env.outgoing });
    return reply;
  } finally {
    allowance.release();
    endWrite?.();
  }
}

/** Returns the body of a request whole. */
async function readBytes(hono: ServiceContext, limit: number | undefined, allowance: Allowance): Promise<Uint8Array> {
  const type = headerOf(hono, "content-type");
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new ApiError("unsupported_media_type", {
      detail: `The content type ${type} is not supported: send application/json.`,
      headers: { accept: "application/json" },
    });
  }
  const { incoming } = hono.env;
  return incoming ? readBody(incoming, { allowance, limit }) : new Uint8Array();
}

/** Checks every part of the request, so that all faults are reported at once. */
async function readInput<Services>(
  { req }: ServiceContext,
  { request: expected }: Servable<Services>,
  { bytes, sender, services }: { bytes: Uint8Array | undefined; sender: string; services: Services },
) {
  const found = new FoundFaults();
  const check = (part: "path" | "query", schema: z.ZodObject, input: Record<string, unknown>) => {
    const { error, data = {} } = schema.safeParse(input);
    found.addFound(error, input, "", part);
    return data;
  };
  const params = expected?.params ? check("path", expected.params, req.param()) : {};
  const query = expected?.query ? check("query", expected.query, queryOf(new URL(req.raw.url))) : {};
  let body: unknown;
  if (expected?.body && bytes) {
    const result = await expected.body.read(bytes, services, sender);
    if ("faults" in result) found.addAll(result);
    else body = result.value;
  }
  refuseFaults(found.faults, found.count);
  return { params, query, body };
}

/** Each parameter's first value: one that is repeated is not a list here. */
function queryOf(url: URL): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) query[name] ??= value;
  return query;
}

/** Returns whose share of a service's memory and connections a request takes: its location's, or its key's. */
function senderOf({ location, keyId }: Principal): string {
  return location?.id ?? keyId;
}

function idempotencyKeyOf(hono: ServiceContext): string | undefined {
  const key = headerOf(hono, "idempotency-key");
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  const message = "must be 1 to 255 visible ASCII characters";
  throw invalidRequest([{ in: "header", path: "idempotency-key", code: "invalid_format", message }]);
}

function requireScope(granted: readonly string[], scope: RouteScope): void {
  const isAllowed = scope.startsWith("internal:") ? granted.includes(scope) : allows(granted, scope as Scope);
  if (!isAllowed) {
    throw new ApiError("scope_missing", {
      detail: `This operation needs the scope ${scope}; the key's consumer has: ${granted.join(", ") || "none"}.`,
    });
  }
}

/** What replies of a route that is to go say: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and where to go instead. */
function retirementHeaders({ deprecated, sunset, successor }: Retirement): Record<string, string> {
  return {
    deprecation: `@${Date.parse(deprecated) / 1000}`,
    sunset: new Date(sunset).toUTCString(),
    ...(successor && { link: `<${successor}>; rel="successor-version"` }),
  };
}
