import { hashKey } from "@pragma/runtime/api-key";
import { readConfig } from "@pragma/runtime/config";
import { openEventBus } from "@pragma/runtime/event-bus";
import { listen } from "@pragma/runtime/http-server";
import type { ProcessBase, ProcessPart } from "@pragma/runtime/run-process";
import type { ServiceRegistry } from "@pragma/runtime/service-registry";
import { sleep } from "@pragma/runtime/sleep";
import { addressLimit, limitConnections } from "./address-limit.ts";
import { createGatewayApp } from "./app.ts";
import { authenticateRequests, createAuthenticate, credentialIn } from "./authenticate.ts";
import { followChanges } from "./changes.ts";
import { gatewayConfig } from "./config.ts";
import { cors } from "./cors.ts";
import { readDocuments } from "./documents.ts";
import { createForwarder } from "./forward.ts";
import { requestId } from "./gateway-request.ts";
import { headerLimits } from "./header-limits.ts";
import { createKeyCache, createKeyLookup } from "./key-cache.ts";
import { openLeaseStore } from "./lease-store.ts";
import { createOpenStreams, trackStream } from "./open-streams.ts";
import { createRateLimiter, rateLimit } from "./rate-limit.ts";
import { createRequestLog } from "./request-log.ts";

/** How long a gateway that stops leaves streams to their services, which end them in their own words. */
const streamGraceMs = 250;

/** A key that does not exist: accounts can be asked for it to see whether it answers. */
const unknownKeyHash = "0".repeat(64);

/**
 * Starts the gateway as a part of a process: it listens once it can limit, authenticate and forward. Rejects when its
 * configuration or documents are faulty, or its port is taken.
 */
export async function startGateway({
  environment,
  registry,
  log: processLog,
  metrics,
}: ProcessBase & { registry: ServiceRegistry }): Promise<ProcessPart & { port: number }> {
  const config = readConfig(gatewayConfig, environment);
  const documents = await readDocuments();
  const log = processLog.child({ service: "gateway" });
  const rate = (perSecond: number, burst: number) => ({ perSecond, burst });
  const forwarder = createForwarder(registry, {
    responseMs: 1000 * config.UPSTREAM_TIMEOUT,
    streamMs: 1000 * config.STREAM_TIMEOUT,
  });
  const lookUp = createKeyLookup(registry);
  const keys = createKeyCache(lookUp, { lifetime: 1000 * config.KEY_LIFETIME });
  const authenticate = createAuthenticate(keys, {
    failures: rate(config.AUTH_FAILURES_PER_SECOND, config.AUTH_FAILURES_BURST),
    lookups: rate(config.KEY_LOOKUPS_PER_SECOND, config.KEY_LOOKUPS_BURST),
  });
  const leases = await openLeaseStore(config, { namespace: config.NAMESPACE, log });
  const limiter = createRateLimiter(leases, {
    defaultRate: rate(config.RATE_LIMIT_PER_SECOND, config.RATE_LIMIT_BURST),
  });
  const bus = openEventBus(config, { name: "gateway", log });
  const requestLog = createRequestLog({ log, metrics });
  const streams = createOpenStreams({
    findKey: async (authorization) => keys.find(hashKey(credentialIn(authorization))),
    checkIntervalMs: 1000 * config.KEY_LIFETIME,
    idleTimeoutMs: 1000 * config.STREAM_TIMEOUT,
  });

  const app = createGatewayApp({
    requestId: requestId({
      proxies: {
        trustedProxies: config.TRUST_PROXY,
        publicUrl: config.PUBLIC_URL === undefined ? undefined : new URL(config.PUBLIC_URL),
      },
      onDone(request) {
        streams.remove(request);
        requestLog.add(request);
      },
    }),
    headerLimits,
    addressLimit: addressLimit(rate(config.KEYLESS_REQUESTS_PER_SECOND, config.KEYLESS_REQUESTS_BURST)),
    cors: cors(config.CORS_ORIGINS),
    authenticate: authenticateRequests(authenticate),
    rateLimit: rateLimit(limiter),
    trackStream: trackStream(streams),
    forwardTo: forwarder.forwardTo,
    documents,
    docsUrl: config.DOCS_URL,
    log,
  });
  followChanges(bus, { cache: keys, streams }, log).catch((error) =>
    log.error({ err: error }, "no longer hears of changes to keys"),
  );
  metrics.observe("gateway_keys_known", "API keys that need not be looked up", () => keys.size);
  metrics.observe("gateway_streams_open", "Streams that are passed on", () => streams.size);
  metrics.observe("gateway_redis_up", "1 while limits are kept over all gateways", () => Number(leases.isUp()));
  metrics.observe("gateway_bus_up", "1 while changes to keys are heard of", () => Number(bus.current() !== undefined));

  const close = async () => {
    await forwarder.close();
    requestLog.flush();
    await bus.close();
    await leases.close();
  };
  const listening = await listen((request, bindings) => app.fetch(request, bindings), {
    port: config.PORT,
    configure(server) {
      // A response that its client does not take ends, and so does a request of which nothing more comes.
      server.setTimeout(1000 * config.IDLE_TIMEOUT);
      limitConnections(server, {
        maxConnections: config.MAX_CONNECTIONS,
        maxPerAddress: config.TRUST_PROXY > 0 ? undefined : config.MAX_CONNECTIONS_PER_ADDRESS,
      });
    },
  }).catch(async (error) => {
    await close();
    throw error;
  });
  log.info({ port: listening.port }, "listening");
  return {
    name: "gateway",
    port: listening.port,
    checks: {
      accounts: async () => {
        await lookUp(unknownKeyHash);
      },
    },
    retire: () => listening.retire(),
    async stop() {
      const stopped = listening.stop();
      if (streams.size > 0) await sleep(streamGraceMs);
      streams.close();
      await stopped;
      await close();
    },
  };
}
