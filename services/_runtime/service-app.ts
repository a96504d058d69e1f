import { ApiError, type Fault } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { problemOf } from "@pragma/contracts/problem";
import { allows } from "@pragma/contracts/scopes";
import { type Context, Hono } from "hono";
import type { z } from "zod";
import type { Route, RouteInput, RouteScope } from "./define-route.ts";
import { faultsOf, refuseFaults } from "./faults.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import { isPassing } from "./passing-cause.ts";
import { principalHeader } from "./principal-token.ts";
import { readBody } from "./read-body.ts";
import { type Allowance, openAllowance } from "./receiving-budget.ts";
import type { Reply } from "./reply.ts";
import { addToLog, withRequestContext } from "./request-context.ts";

interface ServiceAppOptions<Services> {
  service: string;
  routes: Route<Services>[];
  services: Services;
  readPrincipal: (token: string | null | undefined) => Promise<Principal>;
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
  { service, services, readPrincipal, log, metrics }: ServiceAppOptions<Services>,
): Promise<Response> {
  const started = performance.now();
  const request = context.req.raw;
  const identity = {
    requestId: request.headers.get("x-request-id") ?? undefined,
    traceparent: request.headers.get("traceparent"),
  };
  return withRequestContext(identity, async ({ requestId, trace, logFields }) => {
    const allowance = openAllowance();
    let reply: Reply;
    try {
      const principal = await readPrincipal(request.headers.get(principalHeader));
      addToLog({ consumer: principal.consumer, keyId: principal.keyId, locationId: principal.location?.id });
      if (route.scope) demandScope(principal, route.scope);
      reply = await route.handle(await readInput(context, route, { principal, services, allowance }));
    } catch (error) {
      reply = replyToError(error, requestId, log);
    } finally {
      allowance.giveBack();
    }
    const seconds = (performance.now() - started) / 1000;
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
    return responseOf(reply, request.method);
  });
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

/** Reads and checks every part of the request, so that all faults are reported at once. */
async function readInput<Services>(
  context: Context,
  route: Servable<Services>,
  { principal, services, allowance }: { principal: Principal; services: Services; allowance: Allowance },
): Promise<RouteInput<z.ZodObject, z.ZodObject, unknown, Services>> {
  const request = context.req.raw;
  const url = new URL(request.url);
  const faults: Fault[] = [];
  let count = 0;
  const check = (part: "path" | "query", schema: z.ZodObject | undefined, input: Record<string, unknown>) => {
    const result = schema?.safeParse(input);
    if (result && !result.success) {
      faults.push(...faultsOf(part, result.error, input));
      count += result.error.issues.length;
    }
    return result?.data ?? {};
  };
  const params = check("path", route.request?.params, context.req.param());
  const query = check("query", route.request?.query, queryOf(url));
  let body: unknown;
  if (route.request?.body) {
    demandJson(request);
    const { limit } = route.request.body;
    const bytes = await readBody(request, { allowance, ...(limit !== undefined && { limit }) });
    const result = await route.request.body.read(bytes, services);
    if ("faults" in result) {
      faults.push(...result.faults);
      count += result.count;
    } else body = result.value;
  }
  refuseFaults(faults, count);
  return {
    params,
    query,
    body,
    principal,
    services,
    url,
    origin: originOf(request, url),
    header: (name) => request.headers.get(name) ?? undefined,
    signal: request.signal,
  };
}

/** Each parameter's first value: one that is repeated is not a list here. */
function queryOf(url: URL): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) query[name] ??= value;
  return query;
}

function originOf(request: Request, url: URL): string {
  const host = request.headers.get("x-forwarded-host") ?? url.host;
  return `${request.headers.get("x-forwarded-proto") ?? "http"}://${host}`;
}

function demandJson(request: Request): void {
  const type = request.headers.get("content-type");
  if (type === null || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) return;
  throw new ApiError("unsupported_media_type", {
    detail: `The content type ${type} is not supported: send application/json.`,
    headers: { accept: "application/json" },
  });
}

const retryAfter = { "retry-after": "2" };

/** The problem details of whatever a route threw. What is no error of the catalogue is logged, and told to nobody. */
export function replyToError(error: unknown, requestId: string, log: Logger): Reply {
  const apiError = asApiError(error);
  if (apiError.status >= 500) log.error({ err: error, requestId, code: apiError.code }, "request failed");
  addToLog({ code: apiError.code, ...(apiError.faults && { faults: apiError.faults.length }) });
  return {
    status: apiError.status,
    body: JSON.stringify(problemOf(apiError, requestId)),
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...apiError.headers },
  };
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isPassing(error)) {
    return new ApiError("service_unavailable", {
      detail: "Something that this service needs is away. Nothing was done; try again in a moment.",
      headers: retryAfter,
      cause: error,
    });
  }
  return new ApiError("internal_error", {
    detail: "This was logged. Name the requestId when you ask about it.",
    cause: error,
  });
}
