import { Redis, type RedisOptions } from "ioredis";
import { z } from "zod";
import { serverTlsConfig, toTlsOptions } from "../config/server-tls.ts";

/** What a process needs to reach Redis. A `rediss://` URL asks for TLS. */
export const redisConfig = serverTlsConfig.extend({
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: "must be a redis:// URL" }),
});

/** TLS may be left out. */
export type RedisConfig = Partial<z.output<typeof redisConfig>> & { REDIS_URL: string };

/** A connection to Redis, made at once and again whenever it is lost. */
export function createRedisClient(
  config: RedisConfig,
  options: Omit<RedisOptions, "protocol" | "replyMapping">,
): Redis {
  const isTls = config.REDIS_URL.startsWith("rediss:");
  return new Redis(config.REDIS_URL, { ...options, ...(isTls && { tls: toTlsOptions(config) }) });
}
