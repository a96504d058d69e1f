import { Redis, type RedisOptions } from "ioredis";
import { z } from "zod";
import { databaseAndBrokerTlsConfigSchema } from "../config/server-tls.ts";
import { toTlsOptions } from "../config/tls-options.ts";

/** The schema of the Redis configuration. A `rediss://` URL turns TLS on. */
export const redisConfigSchema = databaseAndBrokerTlsConfigSchema.extend({
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: "must be a redis:// URL" }),
});

/** The configuration of a connection to Redis. The TLS files are optional. */
export type RedisConfig = Partial<z.output<typeof redisConfigSchema>> & { REDIS_URL: string };

/**
 * Returns a Redis client that connects immediately and reconnects after every disconnect. It also reconnects if the
 * server has become a replica, because its URL can lead to another server after a failover, and if a command gets no
 * response for 30 seconds. No command blocks for that long.
 */
export function createRedisClient(
  config: RedisConfig,
  options: Omit<RedisOptions, "protocol" | "replyMapping">,
): Redis {
  const isTls = config.REDIS_URL.startsWith("rediss:");
  return new Redis(config.REDIS_URL, {
    reconnectOnError: (error) => /^READONLY\b/.test(error.message),
    socketTimeout: 30_000,
    ...options,
    ...(isTls && { tls: toTlsOptions(config) }),
  });
}
