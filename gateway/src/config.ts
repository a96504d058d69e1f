import {
  commonServiceConfigSchema,
  defaultRateLimitConfigSchema,
  integerEnvSchema,
} from "@pragma/runtime/config/runtime-config";
import { redisConfigSchema } from "@pragma/runtime/database/redis";
import { connectWaitSecondsSchema } from "@pragma/runtime/service-calls/service-registry";
import { z } from "zod";

const originSchema = z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin);
const originListSchema = z
  .string()
  .transform((text) => text.split(",").map((origin) => origin.trim()))
  .pipe(
    z.array(
      z.union([z.literal("*"), originSchema], {
        error: "each entry must be * or an origin such as https://portal.example",
      }),
    ),
  );

export const gatewayConfigSchema = commonServiceConfigSchema
  .pick({ NATS_URL: true, NAMESPACE: true, EVENT_STREAM_REPLICAS: true, MIGRATE: true, DOCS_URL: true })
  .extend({
    ...redisConfigSchema.shape,
    PORT: integerEnvSchema(0, 65_535).default(4000),
    /** Where the gateway listens: on this machine only, on all IPv4 addresses, or on all addresses. */
    LISTEN_HOST: z
      .enum(["localhost", "0.0.0.0", "::"], { error: "must be localhost, 0.0.0.0 or ::" })
      .default("0.0.0.0"),
    /** The public URL of this API, for absolute links. By default, links use the scheme and host of each request. */
    PUBLIC_URL: originSchema.optional(),
    /** Origins of web pages that may call this API. All by default. This is safe because keys are not in cookies. */
    CORS_ORIGINS: originListSchema.default(["*"]),
    /**
     * Number of proxies in front of the gateway. The gateway trusts this number of entries at the end of
     * X-Forwarded-For.
     */
    TRUSTED_PROXY_COUNT: integerEnvSchema(0, 10).default(0),
    /**
     * Timeout, in seconds, for the start of a service's response. If the service runs in another process, also for each
     * later chunk, except in streams.
     */
    UPSTREAM_TIMEOUT_SECONDS: integerEnvSchema(1, 3600).default(30),
    /**
     * Seconds for which requests wait for a service in another process that does not accept connections, for example
     * because it is being replaced. Requests that arrive later fail at once, until the service accepts connections. 0
     * disables the wait.
     */
    UPSTREAM_CONNECT_WAIT_SECONDS: connectWaitSecondsSchema,
    /** Seconds after which a stream is closed if the service sends nothing or the client does not read. */
    STREAM_IDLE_TIMEOUT_SECONDS: integerEnvSchema(1, 3600).default(120),
    /** The rate limit of an API key if its consumer has no individual limit. */
    ...defaultRateLimitConfigSchema.shape,
    /** Requests of all API keys of a sandbox together in a day, including those that move its live orders. */
    SANDBOX_REQUESTS_PER_DAY: integerEnvSchema(1, 10_000_000).default(30_000),
    /**
     * Seconds until a cached key expires. If the event of a revocation is lost, the key works until then, or up to five
     * times as long while accounts is unreachable.
     */
    KEY_CACHE_TTL_SECONDS: integerEnvSchema(1, 60).default(60),
    /**
     * Seconds between two batches of usage (numbers of requests and failed requests) that the gateway sends to accounts.
     * If the gateway is killed, it loses the usage since the last batch.
     */
    USAGE_INTERVAL_SECONDS: integerEnvSchema(1, 60).default(15),
    /**
     * Maximum number of API keys in the cache. If more keys are in use, keys are looked up in accounts more often, and
     * fewer keys work while accounts is unreachable. A key needs about one kilobyte.
     */
    KEY_CACHE_MAX_KEYS: integerEnvSchema(1, 1_000_000).default(20_000),
    /** The rate limit per client address for requests with a wrong key. */
    AUTH_FAILURES_PER_SECOND: integerEnvSchema(1, 1_000_000).default(5),
    AUTH_FAILURES_BURST: integerEnvSchema(1, 10_000_000).default(50),
    /** The rate limit per client address for requests with a key that is not cached. Valid keys do not count. */
    KEY_LOOKUPS_PER_SECOND: integerEnvSchema(1, 1_000_000).default(50),
    KEY_LOOKUPS_BURST: integerEnvSchema(1, 10_000_000).default(1_000),
    /** The rate limit per client address for unauthenticated requests, such as health checks and CORS preflights. */
    KEYLESS_REQUESTS_PER_SECOND: integerEnvSchema(1, 1_000_000).default(100),
    KEYLESS_REQUESTS_BURST: integerEnvSchema(1, 10_000_000).default(1_000),
    /** Limits of concurrent connections, in total and per client address. Behind a proxy, only the total is limited. */
    MAX_CONNECTIONS: integerEnvSchema(1, 1_000_000).default(20_000),
    MAX_CONNECTIONS_PER_ADDRESS: integerEnvSchema(1, 1_000_000).default(1_000),
    /**
     * Seconds without traffic after which a connection with a request in progress is closed, except during a stream.
     */
    CONNECTION_IDLE_TIMEOUT_SECONDS: integerEnvSchema(1, 3600).default(60),
  });
