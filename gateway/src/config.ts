import { defaultRateLimitConfig, numberFromEnv, runtimeConfig } from "@pragma/runtime/config/runtime-config";
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

/** What the gateway needs to run. */
export const gatewayConfig = runtimeConfig
  .pick({ NATS_URL: true, NAMESPACE: true, STREAM_REPLICAS: true, MIGRATE: true })
  .extend({
    ...redisConfig.shape,
    PORT: numberFromEnv(0, 65_535).default(4000),
    /** Where clients reach this API, for absolute links; what the request says when it is not given. */
    PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
    /** Where the documentation is. */
    DOCS_URL: z.url({ protocol: /^https?$/ }).default("https://docs.pragma.example/docs"),
    /** Origins whose pages may call this API. Keys are sent in a header, never in cookies, so any may. */
    CORS_ORIGINS: originListSchema.default(["*"]),
    /** How many proxies stand before the gateway: that many entries of X-Forwarded-For are believed. */
    TRUST_PROXY: numberFromEnv(0, 10).default(0),
    /** Seconds for a service to begin its response, and without any more of it from one of another process. */
    UPSTREAM_TIMEOUT: numberFromEnv(1, 3600).default(30),
    /** Seconds after which a stream is given up on that says nothing, or whose client takes nothing of what it says. */
    STREAM_TIMEOUT: numberFromEnv(1, 3600).default(120),
    /** The limit of a key whose consumer has none of its own. */
    ...defaultRateLimitConfig.shape,
    /** Seconds for which a key that was looked up is good, should nothing be heard of its revocation. */
    KEY_LIFETIME: numberFromEnv(1, 60).default(60),
    /** How often one address may present a wrong key. */
    AUTH_FAILURES_PER_SECOND: numberFromEnv(1, 1_000_000).default(5),
    AUTH_FAILURES_BURST: numberFromEnv(1, 10_000_000).default(50),
    /** How often one address may present a key that has to be looked up and turns out to be wrong. */
    KEY_LOOKUPS_PER_SECOND: numberFromEnv(1, 1_000_000).default(50),
    KEY_LOOKUPS_BURST: numberFromEnv(1, 10_000_000).default(1_000),
    /** How often one address may ask without a key: health, documents, preflights. */
    KEYLESS_REQUESTS_PER_SECOND: numberFromEnv(1, 1_000_000).default(100),
    KEYLESS_REQUESTS_BURST: numberFromEnv(1, 10_000_000).default(1_000),
    /** Connections that the gateway holds at once, and those of one address where no proxy stands before it. */
    MAX_CONNECTIONS: numberFromEnv(1, 1_000_000).default(20_000),
    MAX_CONNECTIONS_PER_ADDRESS: numberFromEnv(1, 1_000_000).default(1_000),
    /** Seconds after which a connection is closed on which nothing is sent or taken while a request is under way. */
    IDLE_TIMEOUT: numberFromEnv(1, 3600).default(60),
  });
