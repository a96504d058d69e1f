import { commonServiceConfig, defaultRateLimitConfig, integerEnvSchema } from "@pragma/runtime/config/runtime-config";
import { redisConfig } from "@pragma/runtime/database/redis";
import { z } from "zod";

const originListSchema = z
  .string()
  .transform((text) => text.split(",").map((origin) => origin.trim()))
  .pipe(
    z.array(
      z.union([z.literal("*"), z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin)], {
        error: "each entry must be an origin such as https://portal.example, or *",
      }),
    ),
  );

/** The configuration of the gateway. */
export const gatewayConfig = commonServiceConfig
  .pick({ NATS_URL: true, NAMESPACE: true, STREAM_REPLICAS: true, MIGRATE: true })
  .extend({
    ...redisConfig.shape,
    PORT: integerEnvSchema(0, 65_535).default(4000),
    /** Where clients reach this API, for absolute links. Default: the host of the request. */
    PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
    /** The address of the documentation. */
    DOCS_URL: z.url({ protocol: /^https?$/ }).default("https://docs.pragma.example/docs"),
    /** Origins whose pages may call this API. Any by default: keys are sent in a header, never in cookies. */
    CORS_ORIGINS: originListSchema.default(["*"]),
    /** Number of trusted proxies in front of the gateway: that many entries of X-Forwarded-For are trusted. */
    TRUST_PROXY: integerEnvSchema(0, 10).default(0),
    /** Seconds until a service must begin its response. For remote services also the limit between two chunks. */
    UPSTREAM_TIMEOUT: integerEnvSchema(1, 3600).default(30),
    /** Seconds after which a stream is closed when nothing is sent, or when its client does not read. */
    STREAM_TIMEOUT: integerEnvSchema(1, 3600).default(120),
    /** The rate limit of keys whose consumer has no individual limit. */
    ...defaultRateLimitConfig.shape,
    /** Seconds for which a key is cached. A missed revocation takes effect after this time. */
    KEY_LIFETIME: integerEnvSchema(1, 60).default(60),
    /** How often one address may send a wrong key. */
    AUTH_FAILURES_PER_SECOND: integerEnvSchema(1, 1_000_000).default(5),
    AUTH_FAILURES_BURST: integerEnvSchema(1, 10_000_000).default(50),
    /** How often one address may send an uncached key that turns out to be wrong. */
    KEY_LOOKUPS_PER_SECOND: integerEnvSchema(1, 1_000_000).default(50),
    KEY_LOOKUPS_BURST: integerEnvSchema(1, 10_000_000).default(1_000),
    /** How often one address may send requests without a key: health, documents, preflights. */
    KEYLESS_REQUESTS_PER_SECOND: integerEnvSchema(1, 1_000_000).default(100),
    KEYLESS_REQUESTS_BURST: integerEnvSchema(1, 10_000_000).default(1_000),
    /** Concurrent connections of the gateway, and of one address when there is no proxy in front of it. */
    MAX_CONNECTIONS: integerEnvSchema(1, 1_000_000).default(20_000),
    MAX_CONNECTIONS_PER_ADDRESS: integerEnvSchema(1, 1_000_000).default(1_000),
    /** Seconds without traffic after which a connection with a request in progress is closed. */
    IDLE_TIMEOUT: integerEnvSchema(1, 3600).default(60),
  });
