import { randomUUID } from "node:crypto";
import rateLimit from "@fastify/rate-limit";
import { ApiError, type ApiErrorCode, toProblemDetails } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { type ApiScope, hasScope } from "@pragma/contracts/scopes";
import { hashApiKey } from "@pragma/runtime/security/api-key";
import fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { pino } from "pino";
import postgres from "postgres";

declare module "fastify" {
  interface FastifyRequest {
    /** The owner of the request's API key. */
    principal: Principal;
  }
  interface FastifyContextConfig {
    /** The scope that the route requires. */
    scope?: ApiScope;
  }
}

const { DATABASE_URL = "", ACCOUNTS_SCHEMA = "" } = process.env;
const keyLifetimeMs = 60_000;

/**
 * Returns a Fastify app that handles every request as the gateway does. The API key is hashed and looked up in a
 * cache, then in the accounts schema. A rate limit per key is checked in memory, but is too high to be reached. Each
 * request is logged on one line. Request ids are accepted and returned. Errors are problem documents.
 */
export async function createFastifyGatewayBaseline({ hasBufferedLog = false } = {}): Promise<FastifyInstance> {
  const app = fastify({
    logger: hasBufferedLog ? { stream: pino.destination({ sync: false, minLength: 8 * 1024 }) } : true,
    disableRequestLogging: true,
    requestIdHeader: "x-request-id",
    genReqId: () => randomUUID(),
  });
  const findPrincipal = createPrincipalLookup();

  app.decorateRequest("principal", null as unknown as Principal);
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
    const credential = request.headers.authorization?.trim().replace(/^bearer(?: +|$)/i, "");
    if (!credential) throw createUnauthorizedError("key_missing");
    request.principal = await findPrincipal(hashApiKey(credential));
    const { scope } = request.routeOptions.config;
    if (scope !== undefined && !hasScope(request.principal.scopes, scope)) throw new ApiError("scope_missing");
  });
  await app.register(rateLimit, {
    max: 10_000_000,
    timeWindow: 10_000,
    enableDraftSpec: true,
    keyGenerator: ({ principal }: FastifyRequest) => principal.keyId,
  });
  app.addHook("onResponse", async (request, reply) => {
    const { principal } = request as Partial<FastifyRequest>;
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url,
        path: request.url,
        status: reply.statusCode,
        milliseconds: reply.elapsedTime,
        keyId: principal?.keyId,
        consumer: principal?.consumer,
        locationId: principal?.location?.id,
      },
      "request",
    );
  });
  app.setNotFoundHandler(() => {
    throw new ApiError("route_not_found", { detail: "No route matches this path." });
  });
  app.setErrorHandler((error: FastifyError | ApiError, request, reply) => {
    const apiError = toApiError(error);
    if (apiError.status >= 500) request.log.error({ err: error }, "request failed");
    reply
      .code(apiError.status)
      .headers({ "cache-control": "no-store", ...apiError.headers })
      .type("application/problem+json")
      .send(JSON.stringify(toProblemDetails(apiError, request.id)));
  });
  return app;
}

/** Returns a function that finds the principal of a key hash. It throws ApiError key_invalid if the hash is unknown. */
function createPrincipalLookup(): (hash: string) => Promise<Principal> {
  const sql = postgres(DATABASE_URL, { max: 2, connection: { search_path: ACCOUNTS_SCHEMA } });
  const cache = new LRUCache<string, Principal>({ max: 20_000, ttl: keyLifetimeMs });
  return async (hash) => {
    const cached = cache.get(hash);
    if (cached) return cached;
    const [principal] = await sql<Principal[]>`
      select k.id as "keyId", c.name as consumer, c.scopes,
        json_build_object('id', l.id, 'application', l.application, 'legacyId', l.legacy_id, 'timeZone', l.time_zone) as location
      from api_keys k join consumers c on c.id = k.consumer_id join locations l on l.id = k.location_id
      where k.hash = ${hash} and k.revoked_at is null`;
    if (!principal) throw createUnauthorizedError("key_invalid");
    cache.set(hash, principal);
    return principal;
  };
}

const errorDetails: Partial<Record<ApiErrorCode, string>> = {
  key_missing: "Send an API key in the Authorization header: Authorization: Bearer <key>.",
  key_invalid: "This API key does not exist. Check that you copied the whole key.",
};

function createUnauthorizedError(code: ApiErrorCode): ApiError {
  const detail = errorDetails[code];
  return new ApiError(code, { ...(detail !== undefined && { detail }), headers: { "www-authenticate": "Bearer" } });
}

function toApiError(error: FastifyError | ApiError): ApiError {
  if (error instanceof ApiError) return error;
  if (error.validation) return new ApiError("invalid_request", { detail: error.message });
  if (error.statusCode === 429) return new ApiError("rate_limited", { detail: error.message });
  return new ApiError("internal_error", { cause: error });
}
