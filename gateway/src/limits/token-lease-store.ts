import type { TokenBucketRate } from "@pragma/runtime/admission/token-bucket";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { createRedisClient, type RedisConfig, requireUsableRedis } from "@pragma/runtime/database/redis";
import type { Logger } from "@pragma/runtime/observability/logger";
import { createOutageLog } from "@pragma/runtime/observability/outage-log";
import { endProcessIfServerIsUnusable } from "@pragma/runtime/process/unusable-server-error";
import type { Result } from "ioredis";

/** Stores one token bucket per API key in Redis. All gateways share the bucket and lease tokens from it. */
export type RateLimitLeaseStore = Awaited<ReturnType<typeof createRateLimitLeaseStore>>;

declare module "ioredis" {
  interface RedisCommander<Context> {
    takeTokens(
      key: string,
      perSecond: number,
      burst: number,
      requested: number,
    ): Result<[granted: number, remaining: string], Context>;
  }
}

/**
 * Refills the key's bucket according to the clock of Redis, and then removes the requested tokens. If the bucket has
 * fewer tokens, removes all whole tokens that it has.
 */
const takeTokensScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local perSecond, burst, requested = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = burst
if bucket[1] then
  tokens = math.min(burst, bucket[1] + math.max(0, now - bucket[2]) * perSecond / 1000)
end
local granted = math.min(math.floor(tokens), requested)
redis.call('HSET', KEYS[1], 'tokens', tokens - granted, 'at', now)
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / perSecond * 1000) + 1000)
return { granted, tostring(tokens - granted) }
`;

const commandTimeoutMs = 100;
/** Milliseconds between two pings of Redis after a command has failed. */
const pingIntervalMs = 250;
/** Maximum milliseconds that the startup waits for Redis. It is short, because the gateway also works without Redis. */
const startupTimeoutMs = 1_000;

/** Creates a store that connects to Redis and reconnects after every outage. */
export async function createRateLimitLeaseStore(
  config: RedisConfig,
  { namespace, log }: { namespace: string; log: Logger },
) {
  const closing = new AbortController();
  let isResponding = true;
  const redis = createRedisClient(config, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    connectTimeout: 2_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  });
  redis.defineCommand("takeTokens", { lua: takeTokensScript, numberOfKeys: 1 });
  endProcessIfServerIsUnusable(requireUsableRedis(redis, config));
  const outage = createOutageLog(log, "Redis is unreachable; each gateway enforces rate limits on its own");
  redis.on("error", outage.recordFailure);
  redis.on("ready", outage.recordRecovery);

  async function waitUntilResponding(cause: unknown): Promise<void> {
    if (!isResponding) return;
    isResponding = false;
    outage.recordFailure(cause);
    while (!isResponding && !closing.signal.aborted) {
      await sleep(pingIntervalMs, closing.signal);
      isResponding = await redis.ping().then(
        () => true,
        () => false,
      );
    }
    if (isResponding) outage.recordRecovery();
  }

  await Promise.race([new Promise((resolve) => redis.once("ready", resolve)), sleep(startupTimeoutMs, closing.signal)]);
  return {
    /** Returns whether Redis is connected and responds in time. */
    isUp: () => isResponding && redis.status === "ready",
    /**
     * Leases up to `requested` tokens. Returns the number of granted tokens, and the number that remain in the shared
     * bucket. Rejects if Redis is not connected, returns an error, or does not respond within 100 ms.
     */
    async acquire(keyId: string, { perSecond, burst }: TokenBucketRate, requested: number) {
      try {
        const [granted, remaining] = await redis.takeTokens(`${namespace}:limit:${keyId}`, perSecond, burst, requested);
        return { granted, remaining: Number(remaining) };
      } catch (error) {
        void waitUntilResponding(error);
        throw error;
      }
    },
    async close(): Promise<void> {
      closing.abort();
      redis.disconnect();
    },
  };
}
