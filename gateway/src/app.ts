import { ApiError } from "@pragma/contracts/errors";
import type { Health } from "@pragma/contracts/health";
import type { MostUsedQuotas } from "@pragma/contracts/quota";
import type { ServiceHealth, ServiceList } from "@pragma/contracts/service-health";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { createLoggedErrorResponse, toApiError } from "@pragma/runtime/http/error-response";
import {
  buildQueryHandlingHeaders,
  listUnknownParameterIssues,
  parseHandlingPreference,
  parseQuery,
} from "@pragma/runtime/http/query-parameters";
import type { RequestPrincipalAndMetadata } from "@pragma/runtime/http/request-identity";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import { createConditionalJsonResponse, jsonResponse, toFetchResponse } from "@pragma/runtime/http/route-response";
import type { Logger } from "@pragma/runtime/observability/logger";
import { productVersion } from "@pragma/runtime/process/product-version";
import { Hono } from "hono";
import type { ApiDocuments, ApiDocumentWithEtag } from "./documents/api-documents.ts";
import {
  keylessRoutes,
  mcpPath,
  quotasPath,
  routePrefixByStreamPath,
  routeTable,
  servicesPath,
  waitingPaths,
} from "./forwarding/route-table.ts";
import { mcpMethods } from "./mcp/mcp-route.ts";
import type { CachedApiKey, GatewayHonoContext, GatewayHonoEnv, GatewayMiddleware } from "./server/gateway-request.ts";
import { responseAlreadySent } from "./server/response-already-sent.ts";

interface GatewayAppOptions {
  requestId: GatewayMiddleware;
  addressLimit: GatewayMiddleware;
  headerLimits: GatewayMiddleware;
  cors: GatewayMiddleware;
  /** Authenticates requests by their API key, and limits their rate. */
  checkKey: GatewayMiddleware;
  /** Lets requests to routes without an API key pass. */
  allowAnonymous: GatewayMiddleware;
  /** Returns the valid API key of an Authorization header if it is cached. */
  findCachedKey(authorization: string | undefined): CachedApiKey | undefined;
  /** Middleware that tracks streams: responses that stay open until the client disconnects. */
  trackStream: GatewayMiddleware;
  /** Returns the last middleware of a route. It forwards the request to a service and returns the response. */
  forwardTo(prefix: string, service: ServiceName): GatewayMiddleware;
  /** The last middleware of the MCP server's route. */
  mcp: GatewayMiddleware;
  /** Returns the health of the gateway and of all services. */
  listServices(): Promise<ServiceHealth[]>;
  /** Returns of which daily quotas most has been used, as the client of a request sees them. */
  listQuotas(request: RequestPrincipalAndMetadata): Promise<MostUsedQuotas>;
  documents: ApiDocuments;
  /** The URL of the documentation, which `/health` returns and to which errors lead. */
  docsUrl: string;
  log: Logger;
}

const forwardedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
const apiVersions = [...new Set(Object.keys(routeTable).map((prefix) => prefix.split("/")[1] ?? ""))].sort();
const ownMethods = "GET, HEAD, OPTIONS";

/** Returns the gateway's Hono app. Requests pass through the middleware in the sequence in which it is registered. */
export function createGatewayApp(middleware: GatewayAppOptions): Hono<GatewayHonoEnv> {
  const { requestId, addressLimit, headerLimits, cors, checkKey, trackStream, forwardTo, mcp } = middleware;
  const { allowAnonymous, findCachedKey, listServices, listQuotas, documents, docsUrl, log } = middleware;
  const startedAt = performance.now();
  const app = new Hono<GatewayHonoEnv>({ strict: false });

  app.use(requestId, headerLimits, addressLimit, cors);
  app.on("TRACE", "*", () => {
    throw new ApiError("method_not_allowed", {
      detail: "TRACE is not supported.",
      headers: { allow: forwardedMethods },
    });
  });

  const rejectOtherMethods = (path: string, allow: string, detail: string) => {
    app.options(path, () => allowResponse(allow));
    app.all(path, () => {
      throw new ApiError("method_not_allowed", { detail, headers: { allow } });
    });
  };
  const registerOwnRoute = (path: `/${string}`, ...handlers: [GatewayMiddleware, ...GatewayMiddleware[]]) => {
    app.get(path, handleUnknownParameters, ...handlers);
    rejectOtherMethods(path, ownMethods, `This path supports only ${ownMethods}.`);
  };
  // Reports only that this instance accepts requests. `/ready` on the ops port reports the state of dependencies.
  registerOwnRoute("/health", (context) => {
    const uptime = (performance.now() - startedAt) / 1000;
    const health: Health = { status: "ok", uptime, docURL: docsUrl, version: productVersion, apiVersions };
    return toFetchResponse(jsonResponse(200, health, { "cache-control": "no-store" }), context.req.method);
  });
  registerOwnRoute("/openapi.json", (context) => sendDocument(context, documents.openapi));
  registerOwnRoute("/asyncapi.json", (context) => sendDocument(context, documents.asyncapi));
  registerOwnRoute("/openapi.full.json", checkKey, requireAdmin, (context) => sendDocument(context, documents.full));
  registerOwnRoute(servicesPath, checkKey, requireAdmin, async (context) => {
    const list: ServiceList = { services: await listServices() };
    return toFetchResponse(jsonResponse(200, list, { "cache-control": "no-store" }), context.req.method);
  });
  registerOwnRoute(quotasPath, checkKey, requireAdmin, async (context) => {
    const list = await listQuotas(context.get("request"));
    return toFetchResponse(jsonResponse(200, list, { "cache-control": "no-store" }), context.req.method);
  });

  app.post(mcpPath, checkKey, mcp);
  rejectOtherMethods(
    mcpPath,
    mcpMethods,
    "The MCP server has no sessions and no streams. Send each message with POST.",
  );

  for (const [path, prefix] of Object.entries(routePrefixByStreamPath)) {
    app.get(path, checkKey, trackStream, forwardTo(prefix, routeTable[prefix]));
  }
  const trackWaitingRequest: GatewayMiddleware = (context, next) =>
    Number(context.req.query("wait")) > 0 ? trackStream(context, next) : (next() as Promise<undefined>);
  for (const path of waitingPaths) {
    app.get(path, checkKey, trackWaitingRequest, forwardTo(path, routeTable[path]));
  }
  for (const { method, path } of keylessRoutes) {
    app.on(method, path, allowAnonymous, forwardTo(path, routeTable[path]));
  }
  for (const service of serviceNames) {
    const path = `${servicesPath}/${service}/*`;
    app.options(path, () => allowResponse(forwardedMethods));
    app.all(path, checkKey, forwardTo(servicesPath, service));
  }
  for (const [prefix, service] of Object.entries(routeTable)) {
    const path = `${prefix}/*`;
    app.options(path, () => allowResponse(forwardedMethods));
    app.all(path, checkKey, forwardTo(prefix, service));
  }

  app.notFound((context) => {
    // The key counts the request, so that its developer finds the mistake. A lookup would be work for anyone.
    const request = context.get("request");
    request.key = findCachedKey(request.incoming.headers.authorization);
    throw new ApiError("route_not_found", { detail: "No route matches this path." });
  });
  app.onError((error, context) => {
    const request = context.get("request");
    const { outgoing, requestId } = request;
    if (outgoing.destroyed && !outgoing.headersSent) return responseAlreadySent;
    const { code, issues } = toApiError(error);
    Object.assign(request, { errorCode: code, issues });
    if (outgoing.headersSent) {
      // The status has already been sent, so the client can detect the error only if the connection is closed.
      log.error({ err: error, requestId }, "response aborted after an error");
      outgoing.destroy();
      return responseAlreadySent;
    }
    return toFetchResponse(createLoggedErrorResponse(error, { requestId, log, docsUrl }), context.req.method);
  });
  return app;
}

const requireAdmin: GatewayMiddleware = (context, next) => {
  if (context.get("request").principal.scopes.includes("admin")) return next() as Promise<undefined>;
  throw new ApiError("scope_missing", { detail: "This operation requires an API key with the scope admin." });
};

/** Middleware of the gateway's own routes, none of which has query parameters. */
const handleUnknownParameters: GatewayMiddleware = async (context, next) => {
  const { incoming, outgoing } = context.env;
  const { unknownNames } = parseQuery(context.req.raw.url);
  const handling = parseHandlingPreference(incoming.headers.prefer?.toString());
  const headers = buildQueryHandlingHeaders(unknownNames, handling);
  for (const name in headers) outgoing.setHeader(name, headers[name] ?? "");
  if (handling === "strict") throwIfInvalid(listUnknownParameterIssues(unknownNames));
  return next();
};

function allowResponse(methods: string): Response {
  return new Response(null, { status: 204, headers: { allow: methods } });
}

function sendDocument(context: GatewayHonoContext, { body, etag }: ApiDocumentWithEtag): Promise<Response> {
  const ifNoneMatch = context.env.incoming.headers["if-none-match"];
  return toFetchResponse(createConditionalJsonResponse(body, { etag, ifNoneMatch }), context.req.method);
}
