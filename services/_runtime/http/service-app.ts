import { hash } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { type ApiScope, hasScope } from "@pragma/contracts/scopes";
import type { ServiceHealth } from "@pragma/contracts/service-health";
import { Hono } from "hono";
import type { z } from "zod";
import type { LargeResponseLimiter } from "../admission/large-response-limiter.ts";
import type { AdmittedRequest, RequestAdmission } from "../admission/request-admission.ts";
import { RequestBodyMemoryReservation } from "../admission/request-body-memory.ts";
import type { Logger } from "../observability/logger.ts";
import type { PrometheusMetrics } from "../observability/metrics.ts";
import { type ObservabilityContext, runWithObservabilityContext } from "../observability/request-context.ts";
import { markSpanFailed, SpanKind } from "../observability/tracing.ts";
import {
  type RouteDeprecation,
  RouteHandlerInput,
  type RouteScope,
  type ServiceRouteDefinition,
} from "./define-route.ts";
import { createLoggedErrorResponse } from "./error-response.ts";
import type { IdempotencyHandler } from "./idempotency.ts";
import {
  buildQueryHandlingHeaders,
  type HandlingPreference,
  listRepeatedParameterIssues,
  listUnknownParameterIssues,
  parseHandlingPreference,
  parseQuery,
  type RequestQuery,
} from "./query-parameters.ts";
import { readRequestBody } from "./read-body.ts";
import {
  getRequestHeader,
  getSenderId,
  type RequestPrincipalAndMetadata,
  type ServiceAppFetch,
  type ServiceHonoBindings,
  type ServiceHonoContext,
} from "./request-identity.ts";
import { createInvalidRequestError, IssueCollector, throwIfInvalid } from "./request-issues.ts";
import { type RouteHandlerResponse, revalidationHeaders, toFetchResponse } from "./route-response.ts";

interface ServiceAppOptions<Services> {
  service: string;
  docsUrl: string;
  routes: ServiceRouteDefinition<Services>[];
  services: Services;
  handleOnce: IdempotencyHandler;
  largeResponses: LargeResponseLimiter;
  admission: RequestAdmission;
  checkReadiness(): Promise<void>;
  /** Returns the results of all checks of the service. */
  describeHealth(): Promise<ServiceHealth>;
  log: Logger;
  metrics: PrometheusMetrics;
}

/** The path at which the gateway checks a service. These requests are not logged, traced or measured. */
export const readinessPath = "/internal/ready";

/** The path at which the gateway reads the health of a service, for operators. */
export const healthPath = "/internal/health";

export function createServiceApp<Services>(options: ServiceAppOptions<Services>): ServiceAppFetch {
  const app = new Hono<{ Bindings: ServiceHonoBindings }>({ strict: false });
  for (const route of options.routes) {
    // Converts OpenAPI paths to Hono paths, such as `/v1/tills/{id}/` to `/v1/tills/:id`.
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1").replace(/(?<=.)\/$/, "");
    const served = { ...route, queryNames: new Set(Object.keys(route.request?.query?.shape ?? {})) };
    app.on(route.method.toUpperCase(), path, (hono) => serveRequest(hono, served, options));
  }
  app.get(readinessPath, async ({ env }) => {
    if (!env.requestIdentity) return new Response(null, { status: 401 });
    const status = await options.checkReadiness().then(
      () => 204,
      () => 503,
    );
    return new Response(null, { status });
  });
  app.get(healthPath, async ({ env }) =>
    env.requestIdentity ? Response.json(await options.describeHealth()) : new Response(null, { status: 401 }),
  );
  app.notFound((hono) => serveRequest(hono, createUnmatchedRoute(app, hono.req.path), options));
  return (request, bindings = {}) => app.fetch(request, bindings);
}

type ServableRoute<Services> = Pick<ServiceRouteDefinition<Services>, "path" | "handle"> &
  Partial<ServiceRouteDefinition<Services>> & {
    queryNames?: ReadonlySet<string>;
  };

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Returns the route for unmatched requests. It responds with 405 if the path supports other methods, otherwise 404. */
function createUnmatchedRoute(app: Hono<{ Bindings: ServiceHonoBindings }>, path: string): ServableRoute<unknown> {
  const served = methods.filter((method) => app.router.match(method, path)[0].length > 0);
  const allowed = served.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
  return {
    path: "/*",
    async handle() {
      if (allowed === "") throw new ApiError("route_not_found");
      throw new ApiError("method_not_allowed", {
        detail: `This path supports only ${allowed}.`,
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
  const { service, docsUrl, log, metrics } = options;
  const started = performance.now();
  const { requestIdentity } = hono.env;
  const { method, path } = hono.req;
  const query = parseQuery(hono.req.raw.url, route.queryNames);
  const handling = route.queryNames && parseHandlingPreference(getRequestHeader(hono, "prefer"));
  const identity = {
    requestId: requestIdentity?.requestId,
    traceparent: () => requestIdentity?.traceparent,
    operation: { name: `${method} ${route.path}`, kind: SpanKind.SERVER },
  };
  return runWithObservabilityContext(identity, async (context) => {
    const { requestId, span, logFields } = context;
    let response: RouteHandlerResponse;
    try {
      if (!requestIdentity) {
        throw new ApiError("key_missing", { detail: "This service accepts only requests from the gateway." });
      }
      response = await handleRequest(hono, route, { ...options, caller: requestIdentity, context, query, handling });
    } catch (error) {
      response = createLoggedErrorResponse(error, { requestId, log, docsUrl, logFields });
      if (requestIdentity && error instanceof ApiError) requestIdentity.issues = error.issues;
    }
    const { status } = response;
    const seconds = (performance.now() - started) / 1000;
    if (span.isRecording()) {
      span.setAttributes({
        "pragma.service": service,
        "pragma.request_id": requestId,
        "http.request.method": method,
        "http.route": route.path,
        "http.response.status_code": status,
      });
      if (status >= 500) markSpanFailed(span, `status ${status}`);
    }
    metrics.recordRequestDuration(seconds, { service, route: route.path, method, status });
    if (requestIdentity?.logFields) Object.assign(requestIdentity.logFields, { operation: route.path }, logFields);
    else {
      const { client } = requestIdentity ?? {};
      const clientFields = client && { clientAddress: client.address, userAgent: client.userAgent ?? undefined };
      const fields = { requestId, traceId: context.traceId, method, route: route.path, path, status, ...clientFields };
      log.info({ ...fields, milliseconds: seconds * 1000, ...logFields }, "request");
    }
    const headers = {
      ...((method === "GET" || method === "HEAD") && revalidationHeaders),
      ...response.headers,
      ...(route.deprecation && buildDeprecationHeaders(route.deprecation)),
      ...(route.queryNames && buildQueryHandlingHeaders(query.unknownNames, handling)),
    };
    return toFetchResponse({ ...response, headers }, method);
  });
}

interface ReceivedRequest<Services> extends ServiceAppOptions<Services> {
  caller: RequestPrincipalAndMetadata;
  context: ObservabilityContext;
  query: RequestQuery;
  handling: HandlingPreference | undefined;
  bytes?: Uint8Array | undefined;
}

/** Parses the request and calls the route's handler. Handles a POST request with an Idempotency-Key only once. */
async function handleRequest<Services>(
  hono: ServiceHonoContext,
  route: ServableRoute<Services>,
  request: ReceivedRequest<Services>,
): Promise<RouteHandlerResponse> {
  const { caller, context, services, handleOnce, largeResponses, admission } = request;
  const { principal } = caller;
  const { keyId, consumer, scopes, location } = principal;
  context.addLogFields({ consumer, keyId, locationId: location?.id });
  if (route.scope) requireScope(scopes, route.scope);
  const { method } = hono.req;
  const isSafe = method === "GET" || method === "HEAD";
  // Checks the limit of unread responses before calling the handler, because a request must not be rejected after it
  // has changed data.
  const senderId = getSenderId(principal);
  if (!isSafe) largeResponses.requireCapacity(senderId);
  // All clients without an API key have the same principal, so they could read each other's stored responses.
  const key = route.method === "post" && route.scope !== null ? readIdempotencyKey(hono) : undefined;
  const memoryReservation = new RequestBodyMemoryReservation(senderId);
  let admitted: AdmittedRequest | undefined;
  try {
    const parser = route.request?.body;
    const isInternal = route.scope?.startsWith("internal:");
    const upload = parser && !isInternal && isLargeUpload(hono) ? await admission.admitUpload(senderId) : undefined;
    let bytes: Uint8Array | undefined;
    try {
      bytes = parser && (await readJsonBytes(hono, parser.maxBytes, memoryReservation));
    } finally {
      upload?.release();
    }
    // Waits before parsing the body, because a parsed body needs many times the memory of its bytes. Requests of other
    // services are part of a request that was admitted.
    if (!isInternal)
      admitted = await admission.admit(senderId, isSafe ? (route.isLookup ? "lookup" : "read") : "write");
    // Computes the hash before parsing the body, because the parser may transfer the bytes to a worker thread.
    const idempotentRequest =
      key === undefined ? undefined : { key, body: bytes ? hash("sha256", bytes, "buffer") : new Uint8Array() };
    const parsed = parseRouteInput(hono, route, { ...request, bytes });
    // Allows garbage collection of the bytes while the request is handled.
    bytes = undefined;
    const handled = { identity: caller, honoContext: hono, largeResponses, admitted };
    const input = new RouteHandlerInput({ ...(await parsed), services, context }, handled);
    let response: RouteHandlerResponse;
    if (idempotentRequest && !route.isDryRun?.(input.query as Record<string, never>)) {
      const { pathname, search } = input.url;
      const operation = `POST ${pathname.replace(/\/$/, "")}${search}`;
      response = await handleOnce({ ...idempotentRequest, principal, operation }, (db) => {
        if (!route.isIdempotent) input.services = { ...services, db };
        return route.handle(input);
      });
    } else response = await route.handle(input);
    largeResponses.trackResponse(response, { senderId, canReject: isSafe, outgoing: hono.env.outgoing });
    return response;
  } finally {
    memoryReservation.release();
    admitted?.release();
  }
}

const largeUploadBytes = 1024 * 1024;

/** Returns whether a body is large, or may be, because its size is not known. */
function isLargeUpload({ env }: ServiceHonoContext): boolean {
  const { "content-length": length, "content-encoding": encoding } = env.incoming?.headers ?? {};
  return length === undefined || encoding !== undefined || Number(length) >= largeUploadBytes;
}

/** @throws `ApiError` unsupported_media_type if there is another content type, and the errors of `readRequestBody`. */
async function readJsonBytes(
  hono: ServiceHonoContext,
  maxBytes: number | undefined,
  memoryReservation: RequestBodyMemoryReservation,
): Promise<Uint8Array> {
  const type = getRequestHeader(hono, "content-type");
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new ApiError("unsupported_media_type", {
      detail: `The content type ${type} is not supported. Send application/json.`,
      headers: { accept: "application/json" },
    });
  }
  const { incoming, requestIdentity } = hono.env;
  if (!incoming) return new Uint8Array();
  const { createBodyVerifier } = requestIdentity ?? {};
  return readRequestBody(incoming, { memoryReservation, maxBytes, createBodyVerifier });
}

/** Parses and validates all parts of the request. @throws `ApiError` invalid_request with the issues of all parts. */
async function parseRouteInput<Services>(
  { req }: ServiceHonoContext,
  { request: schemas, queryNames }: ServableRoute<Services>,
  { services, caller, query: { values, repeated, unknownNames }, handling, bytes }: ReceivedRequest<Services>,
) {
  const issues = new IssueCollector();
  const parsePart = (part: "path" | "query", schema: z.ZodObject, input: Record<string, unknown>) => {
    const { error, data = {} } = schema.safeParse(input);
    issues.addZodError(error, input, "", part);
    return data;
  };
  const params = schemas?.params ? parsePart("path", schemas.params, req.param()) : {};
  const query = schemas?.query ? parsePart("query", schemas.query, values) : {};
  issues.addIssues(listRepeatedParameterIssues(repeated, schemas?.query?.shape ?? {}));
  if (handling === "strict") issues.addIssues(listUnknownParameterIssues(unknownNames, queryNames));
  let body: unknown;
  if (schemas?.body && bytes) {
    const result = await schemas.body.parse(bytes, services, getSenderId(caller.principal));
    if ("issues" in result) issues.addIssues(result.issues, result.count);
    else body = result.value;
  }
  throwIfInvalid(issues.issues, issues.count);
  return { params, query, body };
}

function readIdempotencyKey(hono: ServiceHonoContext): string | undefined {
  const key = getRequestHeader(hono, "idempotency-key");
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  const message = "Must have 1 to 255 visible ASCII characters";
  throw createInvalidRequestError([{ in: "header", path: "idempotency-key", code: "invalid_format", message }]);
}

function requireScope(granted: readonly string[], scope: Exclude<RouteScope, null>): void {
  if (scope === "any") return;
  const isAllowed = scope.startsWith("internal:") ? granted.includes(scope) : hasScope(granted, scope as ApiScope);
  if (!isAllowed) {
    throw new ApiError("scope_missing", {
      detail: `This operation requires the scope ${scope}. Scopes of the API key's consumer: ${granted.join(", ") || "none"}.`,
    });
  }
}

/** Returns the headers of RFC 9745, RFC 8594 and, if there is a successor, `Link`. */
function buildDeprecationHeaders({ deprecated, sunset, successor }: RouteDeprecation): Record<string, string> {
  return {
    deprecation: `@${Date.parse(deprecated) / 1000}`,
    sunset: new Date(sunset).toUTCString(),
    ...(successor && { link: `<${successor}>; rel="successor-version"` }),
  };
}
