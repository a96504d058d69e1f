import { defaultRateLimitConfig, numberFromEnv, runtimeConfig } from "@pragma/runtime/config";
import { redisConfig } from "@pragma/runtime/redis";
import { z } from "zod";

const origins = z
  .string()
  .transform((text) => text.split(",").map((origin) => origin.trim()))
  .pipe(
    z.array(
      z.union([z.literal("*"), z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin)], {
        error: "each entry must be an origin such as https://portal.example, or *",
      }),
    ),
  );

const count = (max: number) => numberFromEnv(z.number().int().min(1).max(max));

/** What the gateway needs to run. */
export const gatewayConfig = runtimeConfig
  .pick({ NATS_URL: true, NAMESPACE: true, STREAM_REPLICAS: true, MIGRATE: true })
  .extend({
    ...redisConfig.shape,
    PORT: numberFromEnv(z.number().int().min(0).max(65_535)).default(4000),
    /** Where clients reach this API, for absolute links; what the request says when it is not given. */
    PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
    /** Where the documentation is. */
    DOCS_URL: z.url({ protocol: /^https?$/ }).default("https://docs.pragma.example/docs"),
    /** Origins whose pages may call this API. Keys are sent in a header, never in cookies, so any may. */
    CORS_ORIGINS: origins.default(["*"]),
    /** How many proxies stand before the gateway: that many entries of X-Forwarded-For are believed. */
    TRUST_PROXY: numberFromEnv(z.number().int().min(0).max(10)).default(0),
    /** Seconds without any progress after which a service is given up on. */
    UPSTREAM_TIMEOUT: count(3600).default(30),
    /** Seconds after which a stream is given up on that says nothing, or whose client takes nothing of what it says. */
    STREAM_TIMEOUT: count(3600).default(120),
    /** The limit of a key whose consumer has none of its own. */
    ...defaultRateLimitConfig.shape,
    /** Seconds for which a key that was looked up is good, should nothing be heard of its revocation. */
    KEY_LIFETIME: count(60).default(60),
    /** How often one address may present a wrong key. */
    AUTH_FAILURES_PER_SECOND: count(1_000_000).default(5),
    AUTH_FAILURES_BURST: count(10_000_000).default(50),
    /** How often one address may present a key that has to be looked up and turns out to be wrong. */
    KEY_LOOKUPS_PER_SECOND: count(1_000_000).default(50),
    KEY_LOOKUPS_BURST: count(10_000_000).default(1_000),
    /** How often one address may ask without a key: health, documents, preflights. */
    KEYLESS_REQUESTS_PER_SECOND: count(1_000_000).default(100),
    KEYLESS_REQUESTS_BURST: count(10_000_000).default(1_000),
    /** Connections that the gateway holds at once, and those of one address where no proxy stands before it. */
    MAX_CONNECTIONS: count(1_000_000).default(20_000),
    MAX_CONNECTIONS_PER_ADDRESS: count(1_000_000).default(1_000),
    /** Seconds after which a connection is closed on which nothing is sent or taken while a request is under way. */
    IDLE_TIMEOUT: count(3600).default(60),
  });
