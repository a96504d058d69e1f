import { join } from "node:path";
import { usageBatchTopic } from "@pragma/contracts/usage";
import { createDocumentationSearch } from "@pragma/mcp/documentation-search";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { startHttpServer } from "@pragma/runtime/http/http-server";
import { readinessPath } from "@pragma/runtime/http/service-app";
import { createEventBus } from "@pragma/runtime/messaging/event-bus";
import { createReadinessReporter } from "@pragma/runtime/process/dependency-checks";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import {
  type ProcessComponent,
  type ProcessContext,
  readRequestDrainTimeoutMs,
} from "@pragma/runtime/process/run-process";
import { endProcessIfServerIsUnusable } from "@pragma/runtime/process/unusable-server-error";
import { hashApiKey } from "@pragma/runtime/security/api-key";
import type { ServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import { createGatewayApp } from "./app.ts";
import { createAnonymousAccess } from "./auth/anonymous-access.ts";
import { createApiKeyCache, lookUpApiKey } from "./auth/api-key-cache.ts";
import { readApiKeyHeader, requireApiKeyHeader } from "./auth/api-key-header.ts";
import { createApiKeyAuthenticator } from "./auth/authenticate.ts";
import { subscribeToApiKeyChanges } from "./auth/key-change-subscription.ts";
import { gatewayConfigSchema } from "./config.ts";
import { readServedApiDocuments } from "./documents/api-documents.ts";
import { createServiceForwarder } from "./forwarding/service-forwarder.ts";
import { createSubrequestSender } from "./forwarding/subrequests.ts";
import { createQuotaList } from "./health/list-quotas.ts";
import { createServiceList } from "./health/list-services.ts";
import { createKeylessRequestLimit, limitConnectionsPerAddress } from "./limits/address-limits.ts";
import { headerLimitMiddleware } from "./limits/header-limits.ts";
import { createKeyCheck, createRequestRateLimiter, takeRateLimitToken } from "./limits/key-rate-limit.ts";
import { createRateLimitLeaseStore } from "./limits/token-lease-store.ts";
import { createMcpMiddleware } from "./mcp/mcp-route.ts";
import { createCorsMiddleware } from "./server/cors.ts";
import { createGatewayRequest, getApiKeyRejection } from "./server/gateway-request.ts";
import { createRequestLog } from "./server/request-log.ts";
import { createKeyCheckedStreamTracker } from "./streams/stream-tracker.ts";
import { listPathWords } from "./usage/hide-path-values.ts";
import { createUsageCounter } from "./usage/usage-counter.ts";
import { startUsageSender } from "./usage/usage-sender.ts";

/** Milliseconds that a stopping gateway waits, so that services can end their streams with a final event. */
const streamGraceMs = 250;

/** Milliseconds to wait until accounts has stored a batch of usage. A stopping gateway waits for at most this long. */
const usageReplyTimeoutMs = 2_000;
const accountsCheckTimeoutMs = 2_000;

/**
 * Starts the gateway as a component of a process. Waits at most one second for Redis and does not wait for NATS,
 * because the gateway also works without them. Rejects if the configuration is invalid, an OpenAPI document is missing,
 * or the port is in use.
 */
export async function startGateway({
  environment,
  registry,
  log: processLog,
  metrics,
}: ProcessContext & { registry: ServiceRegistry }): Promise<ProcessComponent & { port: number }> {
  const config = readConfigFromEnvironment(gatewayConfigSchema, environment);
  const documents = await readServedApiDocuments({ publicUrl: config.PUBLIC_URL, docsUrl: config.DOCS_URL });
  const log = processLog.child({ service: "gateway" });
  const rateOf = (perSecond: number, burst: number) => ({ perSecond, burst });
  const forwarder = createServiceForwarder(registry, {
    responseTimeoutMs: 1000 * config.UPSTREAM_TIMEOUT_SECONDS,
    streamIdleTimeoutMs: 1000 * config.STREAM_IDLE_TIMEOUT_SECONDS,
    connectWaitMs: 1000 * config.UPSTREAM_CONNECT_WAIT_SECONDS,
  });
  const keys = createApiKeyCache((hash) => lookUpApiKey(registry, hash), {
    lifetimeMs: 1000 * config.KEY_CACHE_TTL_SECONDS,
    maxKeys: config.KEY_CACHE_MAX_KEYS,
  });
  const authenticate = createApiKeyAuthenticator(keys, {
    failures: rateOf(config.AUTH_FAILURES_PER_SECOND, config.AUTH_FAILURES_BURST),
    lookups: rateOf(config.KEY_LOOKUPS_PER_SECOND, config.KEY_LOOKUPS_BURST),
  });
  const tokenLeases = await createRateLimitLeaseStore(config, { namespace: config.NAMESPACE, log });
  const { RATE_LIMIT_PER_SECOND, RATE_LIMIT_BURST, RATE_LIMIT_LOCATION_FACTOR: factor } = config;
  const { SANDBOX_REQUESTS_PER_DAY: sandboxRequests } = config;
  const secondsPerDay = 24 * 60 * 60;
  const rateLimiter = createRequestRateLimiter(tokenLeases, {
    defaultRate: rateOf(RATE_LIMIT_PER_SECOND, RATE_LIMIT_BURST),
    locationRate: rateOf(factor * RATE_LIMIT_PER_SECOND, factor * RATE_LIMIT_BURST),
    sandboxRate: rateOf(sandboxRequests / secondsPerDay, sandboxRequests),
  });
  const bus = createEventBus(config, { name: "gateway", log });
  endProcessIfServerIsUnusable(bus.connected);
  const usage = createUsageCounter(listPathWords(documents.full.body.toString()));
  const usageSender = startUsageSender({
    counter: usage,
    send: (batch) => bus.request(usageBatchTopic, batch, { timeoutMs: usageReplyTimeoutMs }),
    intervalMs: 1000 * config.USAGE_INTERVAL_SECONDS,
    log,
  });
  const requestLog = createRequestLog({ log, metrics, usage });
  const streams = createKeyCheckedStreamTracker({
    findKey: async (authorization) => keys.find(hashApiKey(requireApiKeyHeader(authorization))),
    keyCheckIntervalMs: 1000 * config.KEY_CACHE_TTL_SECONDS,
    idleTimeoutMs: 1000 * config.STREAM_IDLE_TIMEOUT_SECONDS,
  });

  const addToLog = requestLog.addSubrequest;
  const sendSubrequest = createSubrequestSender({ authenticate, rateLimiter, forwarder, addToLog });
  const searchDocumentation = createDocumentationSearch({
    openapi: documents.openapi.body,
    docsUrl: config.DOCS_URL,
    folder: join(findEnclosingPackageFolder(import.meta.url), "..", "docs-portal", "docs"),
  });
  // Not required later, because the gateway serves known keys without accounts, and limits rates without Redis.
  const startupChecks = {
    accounts: async () => {
      const request = { from: "gateway", path: readinessPath, timeoutMs: accountsCheckTimeoutMs } as const;
      const { status } = await registry.request("accounts", request);
      if (status !== 204) throw new Error(`accounts responded ${status}`);
    },
    redis: async () => {
      if (!tokenLeases.isUp()) throw new Error("not connected");
    },
    nats: bus.checkConnection,
  };
  const health = createReadinessReporter(() => [{ name: "gateway", checks: {}, optionalChecks: startupChecks }]);
  const app = createGatewayApp({
    requestId: createGatewayRequest({
      proxies: { trustedProxies: config.TRUSTED_PROXY_COUNT, publicUrl: config.PUBLIC_URL },
      onFinished(request) {
        streams.remove(request);
        requestLog.add(request);
      },
    }),
    headerLimits: headerLimitMiddleware,
    addressLimit: createKeylessRequestLimit(rateOf(config.KEYLESS_REQUESTS_PER_SECOND, config.KEYLESS_REQUESTS_BURST)),
    cors: createCorsMiddleware(config.CORS_ORIGINS),
    checkKey: createKeyCheck(authenticate, rateLimiter),
    allowAnonymous: createAnonymousAccess({
      listenHost: config.LISTEN_HOST,
      publicUrl: config.PUBLIC_URL,
      trustedProxies: config.TRUSTED_PROXY_COUNT,
    }),
    findCachedKey(authorization) {
      const credential = readApiKeyHeader(authorization);
      const key = credential === undefined ? undefined : keys.get(hashApiKey(credential));
      return key && !getApiKeyRejection(key) ? key : undefined;
    },
    trackStream(context, next) {
      streams.add(context.get("request"));
      return next() as Promise<undefined>;
    },
    forwardTo: forwarder.forwardTo,
    mcp: createMcpMiddleware({
      ...{ sendSubrequest, searchDocumentation, log },
      takeToken: (request) => takeRateLimitToken(rateLimiter, request),
      corsOrigins: config.CORS_ORIGINS,
      timeoutSeconds: config.UPSTREAM_TIMEOUT_SECONDS,
    }),
    listServices: createServiceList(registry, () => health.describeHealth("gateway")),
    listQuotas: createQuotaList(registry, forwarder),
    documents,
    docsUrl: config.DOCS_URL,
    log,
  });
  subscribeToApiKeyChanges(bus, { cache: keys, streams }, log).catch((error) =>
    log.error({ err: error }, "cannot subscribe to key changes"),
  );
  metrics.observeGauge("gateway_api_keys_cached", "API keys in the cache", () => keys.size);
  metrics.observeGauge("gateway_streams_open", "Open streams", () => streams.size);
  metrics.observeGauge("gateway_redis_up", "1 while rate limits are shared through Redis", () =>
    Number(tokenLeases.isUp()),
  );
  metrics.observeGauge("gateway_nats_up", "1 while connected to NATS, where key changes are published", () =>
    Number(bus.currentConnection() !== undefined),
  );

  metrics.observeCounter(
    "gateway_usage_requests_dropped",
    "Requests that are missing in the usage of API keys, because too much usage could not be sent to accounts",
    () => usage.droppedRequests,
  );

  const close = async () => {
    await forwarder.close();
    requestLog.flush();
    await usageSender.stop();
    await bus.close();
    await tokenLeases.close();
  };
  const listening = await startHttpServer((request, bindings) => app.fetch(request, bindings), {
    port: config.PORT,
    host: config.LISTEN_HOST,
    docsUrl: config.DOCS_URL,
    drainTimeoutMs: readRequestDrainTimeoutMs(environment),
    configure(server) {
      // Closes a connection without traffic, for example when a client stops reading the response or sending the body.
      server.setTimeout(1000 * config.CONNECTION_IDLE_TIMEOUT_SECONDS);
      server.maxConnections = config.MAX_CONNECTIONS;
      // Behind a proxy, all connections come from its address.
      if (config.TRUSTED_PROXY_COUNT === 0) limitConnectionsPerAddress(server, config.MAX_CONNECTIONS_PER_ADDRESS);
    },
  }).catch(async (error) => {
    await close();
    throw error;
  });
  log.info({ port: listening.port }, "listening");
  return {
    name: "gateway",
    port: listening.port,
    checks: {},
    startupChecks,
    drain: () => listening.drain(),
    async stop() {
      const stopped = listening.stop();
      if (streams.size > 0) await sleep(streamGraceMs);
      streams.close();
      await stopped;
      await close();
    },
  };
}
