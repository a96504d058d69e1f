import { createHash } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { allows } from "@pragma/contracts/scopes";
import { type Context, Hono } from "hono";
import type { Route, RouteScope } from "./define-route.ts";
import { replyToError } from "./error-reply.ts";
import { refuseFaults } from "./faults.ts";
import type { Idempotency } from "./idempotency.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import { principalHeader } from "./principal-token.ts";
import { type Allowance, openAllowance } from "./receiving-budget.ts";
import type { Reply } from "./reply.ts";
import type { ReplyBudget } from "./reply-budget.ts";
import { addToLog, withRequestContext } from "./request-context.ts";
import { readInput } from "./request-input.ts";
import { retirementHeaders } from "./retirement.ts";
import { failSpan, SpanKind } from "./tracing.ts";

interface ServiceAppOptions<Services> {
  service: string;
  routes: Route<Services>[];
  services: Services;
  readPrincipal: (token: string | null | undefined) => Promise<Principal>;
  idempotency: Idempotency;
  replies: ReplyBudget;
  log: Logger;
  metrics: Metrics;
}

/** The HTTP side of a service: `(Request) => Promise<Response>` over its routes. */
export function createServiceApp<Services>(options: ServiceAppOptions<Services>): {
  fetch(request: Request): Promise<Response>;
} {
  const app = new Hono({ strict: false });
  for (const route of options.routes) {
    app.on(route.method.toUpperCase(), honoPath(route.path), (context) => serve(context, route, options));
  }
  app.notFound((context) => serve(context, unserved(allowedMethods(app, context.req.path)), options));
  return { fetch: async (request) => app.fetch(request) };
}

/** `/v1/tills/{id}/` as `/v1/tills/:id`. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1").replace(/(?<=.)\/$/, "");
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

function allowedMethods(app: Hono, path: string): string[] {
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
  context: Context,
  route: Servable<Services>,
  { service, services, readPrincipal, idempotency, replies, log, metrics }: ServiceAppOptions<Services>,
): Promise<Response> {
  const started = performance.now();
  const request = context.req.raw;
  const identity = {
    requestId: request.headers.get("x-request-id") ?? undefined,
    traceparent: request.headers.get("traceparent"),
    operation: { name: `${request.method} ${route.path}`, kind: SpanKind.SERVER },
  };
  return withRequestContext(identity, async ({ requestId, trace, span, logFields }) => {
    const allowance = openAllowance();
    let reply: Reply;
    try {
      const principal = await readPrincipal(request.headers.get(principalHeader));
      addToLog({ consumer: principal.consumer, keyId: principal.keyId, locationId: principal.location?.id });
      if (route.scope) demandScope(principal, route.scope);
      // What has had its effect is not refused afterwards.
      const isSafe = request.method === "GET" || request.method === "HEAD";
      if (!isSafe) replies.requireRoom(principal.keyId);
      const answered = await answer(context, route, { principal, services, allowance, idempotency });
      reply = replies.hold(answered, { keyId: principal.keyId, isRefusable: isSafe });
    } catch (error) {
      reply = replyToError(error, requestId, log);
    } finally {
      allowance.giveBack();
    }
    const seconds = (performance.now() - started) / 1000;
    span?.setAttributes({
      "pragma.service": service,
      "pragma.request_id": requestId,
      "http.request.method": request.method,
      "http.route": route.path,
      "http.response.status_code": reply.status,
    });
    if (span && reply.status >= 500) failSpan(span, `answered ${reply.status}`);
    metrics.requestServed({ service, route: route.path, method: request.method, status: reply.status, seconds });
    log.info(
      {
        requestId,
        traceId: trace.traceId,
        method: request.method,
        route: route.path,
        path: context.req.path,
        status: reply.status,
        milliseconds: seconds * 1000,
        ...logFields,
      },
      "request",
    );
    if (route.retirement) reply = { ...reply, headers: { ...reply.headers, ...retirementHeaders(route.retirement) } };
    return responseOf(reply, request.method);
  });
}

interface Answering<Services> {
  principal: Principal;
  services: Services;
  allowance: Allowance;
  idempotency: Idempotency;
}

/** Reads the request and has the route handle it; a POST that carries an Idempotency-Key is handled once. */
async function answer<Services>(
  context: Context,
  route: Servable<Services>,
  { principal, services, allowance, idempotency }: Answering<Services>,
): Promise<Reply> {
  const key = route.method === "post" ? idempotencyKeyOf(context.req.raw) : undefined;
  if (key === undefined) return route.handle(await readInput(context, route, { principal, services, allowance }));
  let body: Uint8Array = new Uint8Array();
  const onBody = (bytes: Uint8Array) => {
    body = createHash("sha256").update(bytes).digest();
  };
  const input = await readInput(context, route, { principal, services, allowance, onBody });
  const { pathname, search } = input.url;
  const operation = `POST ${pathname.replace(/\/$/, "")}${search}`;
  return idempotency.once({ key, principal, operation, body }, () => route.handle(input));
}

function idempotencyKeyOf(request: Request): string | undefined {
  const key = request.headers.get("idempotency-key");
  if (key === null || /^[\x21-\x7e]{1,255}$/.test(key)) return key ?? undefined;
  const message = "must be 1 to 255 visible ASCII characters";
  return refuseFaults([{ in: "header", path: "idempotency-key", code: "invalid_format", message }], 1) as never;
}

async function responseOf({ status, body, headers }: Reply, method: string): Promise<Response> {
  if (method !== "HEAD") return new Response(body as string | null, { status, headers });
  // What is not sent has to be closed.
  if (body instanceof ReadableStream) await body.cancel();
  return new Response(null, { status, headers });
}

function demandScope(principal: Principal, scope: RouteScope): void {
  const isAllowed = scope === "internal" ? principal.scopes.includes("internal") : allows(principal.scopes, scope);
  if (!isAllowed) {
    throw new ApiError("scope_missing", {
      detail: `This operation needs the scope ${scope}; the key's consumer has: ${principal.scopes.join(", ") || "none"}.`,
    });
  }
}
