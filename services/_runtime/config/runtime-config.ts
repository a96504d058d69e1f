import { z } from "zod";
import { serverTlsConfig } from "./server-tls.ts";

/** Every fault of the configuration at once, in words for whoever starts the process. */
export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(`The configuration has ${problems.length} fault(s):\n${problems.map((fault) => `  - ${fault}`).join("\n")}`);
    this.name = "ConfigError";
  }
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Reads what a schema asks for from environment variables; throws `ConfigError` naming every fault, never a value. */
export function readConfig<Schema extends z.ZodType>(
  schema: Schema,
  environment: EnvironmentVariables,
): z.output<Schema> {
  // An empty variable is one that is not set: that is what compose files and shells produce.
  const nonEmpty = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const result = schema.safeParse(nonEmpty);
  if (result.success) return result.data;
  throw new ConfigError(result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
}

/** A whole number in the environment, from `min` to `max`. */
export const numberFromEnv = (min: number, max = Number.POSITIVE_INFINITY) =>
  z.string().regex(/^\d+$/, "must be a whole number").transform(Number).pipe(z.number().int().min(min).max(max));

function isNatsServerList(text: string): boolean {
  const [first = "", ...others] = text.split(",");
  const urls = [first, ...others.map((other) => (other.includes("//") ? other : `nats://${other}`))];
  return urls.every((url) => URL.canParse(url) && /^(?:nats|tls):$/.test(new URL(url).protocol));
}

/** `name:secret,...`: the first is used, all are accepted, so that keys can be rotated. */
export const secretKeysFromEnv = z
  .string()
  .transform((text) => text.split(",").map((entry) => entry.trim().split(":")))
  .pipe(
    z
      .array(
        z.tuple(
          [z.string().regex(/^[\w.-]+$/), z.string().min(32)],
          "each entry must read name:secret, the name of letters and digits, the secret of 32 characters or more",
        ),
      )
      .min(1),
  )
  .transform((entries) => entries.map(([id, secret]) => ({ id, secret })));

/** What every service needs to run, whatever it does. */
export const runtimeConfig = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// URL" }),
  /** `nats://user:password@host:4222`; of a cluster, the other servers follow with commas: `,host:4222,host:4222`. */
  NATS_URL: z.string().refine(isNatsServerList, "must be a nats:// URL"),
  /** `name:secret,...`, for what is kept encrypted: the first seals, all open. */
  DATA_KEYS: secretKeysFromEnv,
  /** Connections to PostgreSQL that this service may hold. */
  DATABASE_POOL: numberFromEnv(2, 200).default(10),
  /** Put before the name of every schema, subject and stream: lets several installations share servers. */
  NAMESPACE: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,30}$/)
    .default("pragma"),
  /** How long it is remembered which events were handled: longer than the 14 days for which the stream keeps them. */
  INBOX_KEPT_DAYS: numberFromEnv(15, 365).default(21),
  /** Requests with an Idempotency-Key that this service takes from one location in a day (UTC). */
  IDEMPOTENCY_KEYS_PER_DAY: numberFromEnv(0).default(1_000_000),
  /** Bytes of replies to them that are kept of one location in a day; beyond that, the fingerprint of the request. */
  IDEMPOTENCY_BYTES_PER_DAY: numberFromEnv(0).default(250_000_000),
  /** The largest reply to such a request that is kept, in bytes. */
  IDEMPOTENCY_REPLY_BYTES: numberFromEnv(0).default(65_536),
  /**
   * Megabytes of bodies that the process holds at once; when it is not set, a quarter of its memory or half of its heap,
   * whichever is less, and 256 at most.
   */
  RECEIVING_BUDGET_MB: numberFromEnv(56, 65_536).optional(),
  /** Kilobytes that a body of more than 64 has to bring, after inflating, in each window of so many seconds. */
  BODY_MIN_KB: numberFromEnv(1, 1_024).default(32),
  BODY_WINDOW_SECONDS: numberFromEnv(1, 300).default(10),
  /** Copies of the event stream; 3 on a NATS cluster. */
  STREAM_REPLICAS: numberFromEnv(1, 5).default(1),
  /**
   * Bytes that the event stream holds at most; more waits in the outboxes until events have left the stream. It is more
   * than one location may fill with live orders in the 14 days for which events are kept.
   */
  EVENT_STREAM_MAX_BYTES: numberFromEnv(1_000_000).default(16_000_000_000),
  /**
   * Whether this process makes its tables and the event stream itself. `off` where it may not: then the `migrate` command
   * has made them, or will in a moment.
   */
  MIGRATE: z.enum(["on", "off"]).default("on"),
  /** Bytes of large replies that clients have not taken yet, which a service holds in memory at most. */
  UNREAD_REPLY_BYTES: numberFromEnv(1_000_000).default(128 * 1024 * 1024),
  /** The same of one API key. */
  UNREAD_REPLY_BYTES_PER_KEY: numberFromEnv(1_000_000).default(32 * 1024 * 1024),
  ...serverTlsConfig.shape,
});

export type RuntimeConfig = z.infer<typeof runtimeConfig>;

/** The rate limit of every key whose consumer has none of its own: the gateway applies it, accounts compares with it. */
export const defaultRateLimitConfig = z.object({
  RATE_LIMIT_PER_SECOND: numberFromEnv(1, 1_000_000).default(100),
  RATE_LIMIT_BURST: numberFromEnv(1, 10_000_000).default(2_000),
});
