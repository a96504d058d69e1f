import { sleep } from "@pragma/runtime/concurrency/sleep";
import { createRedisClient, type RedisConfig } from "@pragma/runtime/database/redis";
import type { TokenBucketRate } from "@pragma/runtime/limits/token-bucket";
import type { Logger } from "@pragma/runtime/observability/logger";
import { createOutageLog } from "@pragma/runtime/observability/outage-log";
import type { Result } from "ioredis";

/** What a gateway was given of a key's tokens, and what is left for everybody. */
export interface TokenLease {
  granted: number;
  remaining: number;
}

/** Counts the tokens of every key for all gateways together, and gives them out in leases. */
export type TokenLeaseStore = Awaited<ReturnType<typeof createTokenLeaseStore>>;

declare module "ioredis" {
  interface RedisCommander<Context> {
    takeTokens(
      key: string,
      perSecond: number,
      burst: number,
      wanted: number,
    ): Result<[granted: number, left: string], Context>;
  }
}

/** Refills the key's bucket by Redis' own clock, then takes what is wanted of it, or as much as there is. */
const takeTokensScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local perSecond, burst, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = burst
if bucket[1] then
  tokens = math.min(burst, bucket[1] + math.max(0, now - bucket[2]) * perSecond / 1000)
end
local granted = math.min(math.floor(tokens), wanted)
redis.call('HSET', KEYS[1], 'tokens', tokens - granted, 'at', now)
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / perSecond * 1000) + 1000)
return { granted, tostring(tokens - granted) }
`;

/** How long an answer is waited for, and how often Redis is tried while it gives none, in milliseconds. */
const commandTimeoutMs = 100;
const pingIntervalMs = 250;
/** How long the start waits for Redis, in milliseconds: the gateway works without it. */
const startupTimeoutMs = 1_000;

/** Connects to Redis, and keeps trying for as long as it is away. */
export async function createTokenLeaseStore(
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
  const outage = createOutageLog(log, "Redis is away; limits are kept by each gateway alone");
  redis.on("error", outage.recordFailure);
  redis.on("ready", outage.recordRecovery);

  async function waitUntilResponding(cause: unknown): Promise<void> {
    if (!isResponding) return;
    isResponding = false;
    log.warn({ err: cause }, "Redis did not count; limits are kept by each gateway alone until it does");
    while (!isResponding && !closing.signal.aborted) {
      await sleep(pingIntervalMs, closing.signal);
      isResponding = await redis.ping().then(
        () => true,
        () => false,
      );
    }
  }

  await Promise.race([new Promise((resolve) => redis.once("ready", resolve)), sleep(startupTimeoutMs, closing.signal)]);
  return {
    /** Whether it is worth asking: false while Redis is away or does not answer in time. */
    isUp: () => isResponding && redis.status === "ready",
    /** Takes up to `wanted` tokens at once. Rejects when Redis does not answer within a moment. */
    async acquire(keyId: string, { perSecond, burst }: TokenBucketRate, wanted: number): Promise<TokenLease> {
      try {
        const [granted, left] = await redis.takeTokens(`${namespace}:limit:${keyId}`, perSecond, burst, wanted);
        return { granted, remaining: Number(left) };
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
