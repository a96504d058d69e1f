import { numberFromEnv, runtimeConfig } from "@pragma/runtime/config";
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

const count = (most: number) => numberFromEnv(z.number().int().min(1).max(most));

/** What the gateway needs to run. */
export const gatewayConfig = runtimeConfig
  .pick({ NATS_URL: true, PRINCIPAL_KEYS: true, NAMESPACE: true, STREAM_REPLICAS: true, MIGRATE: true })
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
    RATE_LIMIT_PER_SECOND: count(1_000_000).default(50),
    RATE_LIMIT_BURST: count(10_000_000).default(200),
    /** Seconds for which a key that was looked up is good, should nothing be heard of its revocation. */
    KEY_LIFETIME: count(60).default(60),
    /** How often one address may present a key that is not good. */
    AUTH_FAILURES_PER_SECOND: count(1_000_000).default(5),
    AUTH_FAILURES_BURST: count(10_000_000).default(50),
  });

export type GatewayConfig = typeof gatewayConfig._output;
