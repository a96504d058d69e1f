import { Redis, type RedisOptions } from "ioredis";
import { z } from "zod";
import { serverTlsConfigSchema, toTlsOptions } from "../config/server-tls.ts";
import { isTlsFailure, isVersionAtLeast, tlsAdvice, UnusableServerError } from "../process/unusable-server-error.ts";

/** The schema of the Redis configuration. A `rediss://` URL turns TLS on. */
export const redisConfigSchema = serverTlsConfigSchema.extend({
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: "must be a redis:// URL" }),
});

/** The configuration of a connection to Redis. The TLS files are optional. */
export type RedisConfig = Partial<z.output<typeof redisConfigSchema>> & { REDIS_URL: string };

/** Returns a client that also reconnects if the server became a replica or does not respond for 30 seconds. */
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

const minRedisVersion = "7";

/** Resolves after the first connect to a usable Redis. @throws `UnusableServerError` if an operator must help. */
export async function requireUsableRedis(redis: Redis, { REDIS_URL }: RedisConfig): Promise<void> {
  const server = `Redis at ${new URL(REDIS_URL).host}`;
  await new Promise<void>((resolve, reject) => {
    redis.once("ready", resolve).on("error", (error) => {
      const advice = findRedisAdvice(error);
      if (advice !== undefined) reject(new UnusableServerError(server, { problem: error.message, advice }));
    });
  });
  // A user without the permission for INFO is a user of a newer Redis, because older ones have no users.
  const info = await redis.info("server").catch(() => undefined);
  const version = /^redis_version:(\S+)/m.exec(info ?? "")?.[1];
  if (version !== undefined && !isVersionAtLeast(version, minRedisVersion)) {
    const problem = `its version is ${version}`;
    throw new UnusableServerError(server, { problem, advice: `Use Redis ${minRedisVersion} or newer.` });
  }
}

function findRedisAdvice(error: Error): string | undefined {
  if (/^(?:NOAUTH|WRONGPASS|NOPERM)\b/.test(error.message)) return "Correct the user and the password in REDIS_URL.";
  // The client begins with HELLO.
  if (/^(?:ERR unknown command|NOPROTO)\b/.test(error.message)) return `Use Redis ${minRedisVersion} or newer.`;
  return isTlsFailure(error) ? tlsAdvice("REDIS_URL", "rediss:// or redis://") : undefined;
}
