import { ApiError } from "@pragma/contracts/errors";
import { openEventBus } from "@pragma/runtime/event-bus";
import { startListening } from "@pragma/runtime/http-server";
import { principalSigner } from "@pragma/runtime/principal-token";
import type { ProcessBase, ProcessPart } from "@pragma/runtime/run-process";
import { sleep } from "@pragma/runtime/sleep";
import type { UpstreamRegistry } from "@pragma/runtime/upstreams";
import { createGatewayApp } from "./app.ts";
import { createAuthenticate } from "./authenticate.ts";
import { followChanges } from "./changes.ts";
import type { GatewayConfig } from "./config.ts";
import { createCors } from "./cors.ts";
import type { Documents } from "./documents.ts";
import type { Exchange } from "./exchange.ts";
import { createForwarder } from "./forward.ts";
import { createGuessLimit } from "./guess-limit.ts";
import { createKeyCache, type KnownKey } from "./key-cache.ts";
import { createKeyLookup } from "./key-lookup.ts";
import { openLeaseStore } from "./lease-store.ts";
import { createOpenStreams } from "./open-streams.ts";
import { createRateLimiter, type Verdict } from "./rate-limit.ts";
import { createRequestLog } from "./request-log.ts";
import { createListener } from "./serve.ts";
import { createGatewayServer } from "./server.ts";

interface GatewayOptions extends Omit<ProcessBase, "environment"> {
  config: GatewayConfig;
  documents: Documents;
  upstreams: UpstreamRegistry;
}

/** How long a gateway that stops leaves streams to their services, in milliseconds. */
const farewellTime = 250;

/** A key that nobody has: accounts can be asked for it to see whether it answers. */
const nobodysKey = "0".repeat(64);

/** Starts the gateway: it listens once it can limit, authenticate and forward. */
export async function openGateway({
  config,
  documents,
  upstreams,
  log: processLog,
  metrics,
}: GatewayOptions): Promise<ProcessPart & { port: number }> {
  const log = processLog.child({ service: "gateway" });
  const sign = principalSigner(config.PRINCIPAL_KEYS);
  const cors = createCors(config.CORS_ORIGINS);
  const lookUp = createKeyLookup(upstreams, sign);
  const keys = createKeyCache(lookUp, { lifetime: 1000 * config.KEY_LIFETIME });
  const authenticate = createAuthenticate(
    keys,
    createGuessLimit({ perSecond: config.AUTH_FAILURES_PER_SECOND, burst: config.AUTH_FAILURES_BURST }),
  );
  const leases = await openLeaseStore(config, { namespace: config.NAMESPACE, log });
  const limiter = createRateLimiter(leases, {
    defaultRate: { perSecond: config.RATE_LIMIT_PER_SECOND, burst: config.RATE_LIMIT_BURST },
  });
  const bus = openEventBus(config, { name: "gateway", log });
  const forwarder = createForwarder(upstreams, { sign, timeout: config.UPSTREAM_TIMEOUT * 1000 });
  const requestLog = createRequestLog({ log, metrics });
  const streams = createOpenStreams({
    authenticate,
    checkTime: 1000 * config.KEY_LIFETIME,
    idleTime: 1000 * config.STREAM_TIMEOUT,
  });
  let isStopping = false;

  function admit(exchange: Exchange): Promise<void> | void {
    const { headers, memo } = exchange.incoming;
    const key = authenticate(headers.authorization, () => exchange.address, memo);
    return key instanceof Promise ? key.then((found) => limit(exchange, found)) : limit(exchange, key);
  }

  function limit(exchange: Exchange, key: KnownKey): Promise<void> | void {
    exchange.key = key;
    const verdict = limiter.take(key.principal.keyId, key.rateLimit);
    return verdict instanceof Promise ? verdict.then((given) => obey(exchange, given)) : obey(exchange, verdict);
  }

  const { server, isBusy } = createGatewayServer(
    createListener({
      setting: {
        surroundings: {
          trustedProxies: config.TRUST_PROXY,
          publicUrl: config.PUBLIC_URL === undefined ? undefined : new URL(config.PUBLIC_URL),
        },
        cors,
        isStopping: () => isStopping,
        onStream: streams.add,
      },
      admit,
      forward(exchange, onFailure) {
        const { route, key } = exchange;
        if (!route || !key) throw new Error("A request is forwarded once its route and its key are known.");
        forwarder.forward(exchange, { service: route.service, principal: key.principal, onFailure });
      },
      app: createGatewayApp({ documents, docsUrl: config.DOCS_URL, cors, admit, log }),
      log,
      onDone(exchange) {
        streams.remove(exchange);
        requestLog.add(exchange);
      },
    }),
  );
  followChanges(bus, { cache: keys, streams }, log).catch((error) =>
    log.error({ err: error }, "no longer hears of changes to keys"),
  );
  metrics.observe("gateway_keys_known", "API keys that need not be looked up", () => keys.size);
  metrics.observe("gateway_streams_open", "Streams that are passed on", () => streams.size);
  metrics.observe("gateway_redis_up", "1 while limits are kept over all gateways", () => Number(leases.isUp()));
  metrics.observe("gateway_bus_up", "1 while changes to keys are heard of", () => Number(bus.isConnected()));

  const close = async () => {
    forwarder.close();
    requestLog.flush();
    await bus.close();
    await leases.close();
  };
  const listening = await startListening(server, { port: config.PORT, isBusy }).catch(async (error) => {
    await close();
    throw error;
  });
  log.info({ port: listening.port }, "listening");
  return {
    name: "gateway",
    port: listening.port,
    checks: {
      accounts: async () => {
        await lookUp(nobodysKey);
      },
    },
    retire() {
      isStopping = true;
    },
    async stop() {
      isStopping = true;
      const stopped = listening.stop();
      // Services that stop too say so in their streams first.
      if (streams.size > 0) await sleep(farewellTime);
      streams.close();
      await stopped;
      await close();
    },
  };
}

function obey(exchange: Exchange, { isAllowed, headers, retryAfter }: Verdict): void {
  exchange.limitHeaders = headers;
  if (isAllowed) return;
  throw new ApiError("rate_limited", {
    detail: "This key has made too many requests. Wait as long as Retry-After says.",
    headers: { "retry-after": String(retryAfter) },
  });
}
