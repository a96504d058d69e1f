import { createHash } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { allows, type Scope } from "@pragma/contracts/scopes";
import { Hono } from "hono";
import type { Caller, ServiceBindings, ServiceContext, ServiceFetch } from "./caller.ts";
import type { Route, RouteScope } from "./define-route.ts";
import { replyToError } from "./error-reply.ts";
import { refuseFaults } from "./faults.ts";
import type { Idempotency } from "./idempotency.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import { type Allowance, openAllowance } from "./receiving-budget.ts";
import { type Reply, responseOf } from "./reply.ts";
import type { ReplyBudget } from "./reply-budget.ts";
import { type RequestContext, withRequestContext } from "./request-context.ts";
import { headerOf, readInput, senderOf } from "./request-input.ts";
import { retirementHeaders } from "./retirement.ts";
import { createPermit, type KeyedSemaphore, type Permit } from "./semaphore.ts";
import { failSpan, SpanKind } from "./tracing.ts";

interface ServiceAppOptions<Services> {
  service: string;
  routes: Route<Services>[];
  services: Services;
  idempotency: Idempotency;
  replies: ReplyBudget;
  /** Of each location: so many requests that change something are handled at a time, the others wait. */
  writes: KeyedSemaphore;
  log: Logger;
  metrics: Metrics;
}

/** Returns the HTTP side of a service: a Hono app over its routes. */
export function createServiceApp<Services>(options: ServiceAppOptions<Services>): ServiceFetch {
  const app = new Hono<{ Bindings: ServiceBindings }>({ strict: false });
  for (const route of options.routes) {
    app.on(route.method.toUpperCase(), honoPath(route.path), (hono) => serve(hono, route, options));
  }
  app.notFound((hono) => serve(hono, unserved(allowedMethods(app, hono.req.path)), options));
  return (request, bindings = {}) => app.fetch(request, bindings);
}

/** `/v1/tills/{id}/` as `/v1/tills/:id`. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1").replace(/(?<=.)\/$/, "");
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

function allowedMethods(app: Hono<{ Bindings: ServiceBindings }>, path: string): string[] {
  const allowed = methods.filter((method) => app.router.match(method, path)[0].length > 0);
  return allowed.includes("GET") ? ["GET", "HEAD", ...allowed.filter((method) => method !== "GET")] : allowed;
}

/** Answers what no route serves: 405 where another method would be, else 404. */
function unserved(allowed: string[]): Pick<Route<unknown>, "path" | "handle"> {
  return {
    path: "/*",
    async handle() {
      if (allowed.length === 0) throw new ApiError("route_not_found");
      throw new ApiError("method_not_allowed", {
        detail: `This address answers ${allowed.join(", ")}.`,
        headers: { allow: allowed.join(", ") },
      });
    },
  };
}

type Servable<Services> = Pick<Route<Services>, "path" | "handle"> & Partial<Route<Services>>;

async function serve<Services>(
  hono: ServiceContext,
  route: Servable<Services>,
  { service, services, idempotency, replies, writes, log, metrics }: ServiceAppOptions<Services>,
): Promise<Response> {
  const started = performance.now();
  const { caller } = hono.env;
  const { method, path } = hono.req;
  const identity = {
    requestId: caller?.requestId,
    traceparent: caller?.traceparent,
    operation: { name: `${method} ${route.path}`, kind: SpanKind.SERVER },
  };
  return withRequestContext(identity, async (context) => {
    const { requestId, trace, span, logFields } = context;
    const allowance = openAllowance();
    let permit: Permit | undefined;
    let reply: Reply;
    try {
      if (!caller) {
        throw new ApiError("key_missing", { detail: "Requests to this service come through the gateway." });
      }
      const { principal } = caller;
      context.addToLog({ consumer: principal.consumer, keyId: principal.keyId, locationId: principal.location?.id });
      if (route.scope) requireScope(principal.scopes, route.scope);
      // What has had its effect is not refused afterwards.
      const isSafe = method === "GET" || method === "HEAD";
      if (!isSafe) {
        replies.requireRoom(principal.keyId);
        permit = createPermit(writes, senderOf(principal));
      }
      reply = await handle(hono, route, { caller, services, context, allowance, permit, idempotency });
      replies.hold(reply, { keyId: principal.keyId, isRefusable: isSafe, outgoing: hono.env.outgoing });
    } catch (error) {
      reply = replyToError(error, { requestId, log, logFields });
    } finally {
      allowance.release();
      permit?.release();
    }
    const { status } = reply;
    const seconds = (performance.now() - started) / 1000;
    if (span) {
      span.setAttributes({
        "pragma.service": service,
        "pragma.request_id": requestId,
        "http.request.method": method,
        "http.route": route.path,
        "http.response.status_code": status,
      });
      if (status >= 500) failSpan(span, `answered ${status}`);
    }
    metrics.requestServed({ service, route: route.path, method, status, seconds });
    if (caller?.logFields) Object.assign(caller.logFields, { operation: route.path }, logFields);
    else {
      log.info(
        {
          requestId,
          traceId: trace.traceId,
          method,
          route: route.path,
          path,
          status,
          milliseconds: seconds * 1000,
          ...logFields,
        },
        "request",
      );
    }
    if (route.retirement) reply = { ...reply, headers: { ...reply.headers, ...retirementHeaders(route.retirement) } };
    return responseOf(reply, method);
  });
}

interface Handling<Services> {
  caller: Caller;
  services: Services;
  context: RequestContext;
  allowance: Allowance;
  /** Held from before the body is parsed until the response is there. */
  permit: Permit | undefined;
  idempotency: Idempotency;
}

/** Reads the request and has the route handle it; a POST that carries an Idempotency-Key is handled once. */
async function handle<Services>(
  hono: ServiceContext,
  route: Servable<Services>,
  { idempotency, ...given }: Handling<Services>,
): Promise<Reply> {
  const key = route.method === "post" ? idempotencyKeyOf(hono) : undefined;
  if (key === undefined) return route.handle(await readInput(hono, route, given));
  let body: Uint8Array = new Uint8Array();
  const onBody = (bytes: Uint8Array) => {
    body = createHash("sha256").update(bytes).digest();
  };
  const input = await readInput(hono, route, { ...given, onBody });
  const { pathname, search } = input.url;
  const operation = `POST ${pathname.replace(/\/$/, "")}${search}`;
  const { principal, services } = input;
  const { isRepeatable = false } = route;
  return idempotency.once({ key, principal, operation, body, isRepeatable }, async (db) => {
    input.services = { ...services, db };
    return route.handle(input);
  });
}

function idempotencyKeyOf(hono: ServiceContext): string | undefined {
  const key = headerOf(hono, "idempotency-key");
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  const message = "must be 1 to 255 visible ASCII characters";
  return refuseFaults([{ in: "header", path: "idempotency-key", code: "invalid_format", message }], 1) as never;
}

function requireScope(granted: readonly string[], scope: RouteScope): void {
  const isAllowed = scope.startsWith("internal:") ? granted.includes(scope) : allows(granted, scope as Scope);
  if (!isAllowed) {
    throw new ApiError("scope_missing", {
      detail: `This operation needs the scope ${scope}; the key's consumer has: ${granted.join(", ") || "none"}.`,
    });
  }
}
