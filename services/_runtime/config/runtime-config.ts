import { z } from "zod";
import { applyRenamedVariables, type EnvironmentVariables } from "./renamed-variables.ts";
import { serverTlsConfig } from "./server-tls.ts";

/** Thrown for invalid configuration: its message lists every issue for the operator who starts the process. */
export class ConfigError extends Error {
  constructor(issues: string[]) {
    super(`Invalid configuration, ${issues.length} issue(s):\n${issues.map((issue) => `  - ${issue}`).join("\n")}`);
    this.name = "ConfigError";
  }
}

/** Returns the configuration that a schema describes. @throws `ConfigError` that names every issue, never a value. */
export function readConfigFromEnvironment<Schema extends z.ZodType>(
  schema: Schema,
  environment: EnvironmentVariables,
): z.output<Schema> {
  // An empty variable counts as not set, because compose files and shells produce empty ones.
  const nonEmpty = Object.fromEntries(
    Object.entries(applyRenamedVariables(environment)).filter(([, value]) => value !== ""),
  );
  const result = schema.safeParse(nonEmpty);
  if (result.success) return result.data;
  throw new ConfigError(result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
}

/** Returns a schema for an environment variable that holds a whole number from `min` to `max`. */
export const integerEnvSchema = (min: number, max = Number.POSITIVE_INFINITY) =>
  z.string().regex(/^\d+$/, "must be a whole number").transform(Number).pipe(z.number().int().min(min).max(max));

function isNatsServerList(text: string): boolean {
  const [first = "", ...others] = text.split(",");
  const urls = [first, ...others.map((other) => (other.includes("//") ? other : `nats://${other}`))];
  return urls.every((url) => URL.canParse(url) && /^(?:nats|tls):$/.test(new URL(url).protocol));
}

/** Parses `name:secret,...`: the first key is used, all are accepted, so that keys can be rotated. */
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

/** The configuration that every service has. */
export const commonServiceConfig = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// URL" }),
  /** `nats://user:password@host:4222`; the other servers of a cluster follow after commas: `,host:4222,host:4222`. */
  NATS_URL: z.string().refine(isNatsServerList, "must be a nats:// URL"),
  /** `name:secret,...` for data that is stored encrypted: the first key encrypts, all decrypt. */
  DATA_KEYS: secretKeysFromEnv,
  /** The maximum number of connections of this service to PostgreSQL. */
  DATABASE_POOL: integerEnvSchema(2, 200).default(10),
  /** The prefix of every schema, subject and stream, so that several installations can share servers. */
  NAMESPACE: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,30}$/)
    .default("pragma"),
  /** How long the ids of handled events are kept: longer than the 14 days for which the stream keeps events. */
  INBOX_KEPT_DAYS: integerEnvSchema(15, 365).default(21),
  /** The maximum number of requests with an Idempotency-Key per location and day (UTC). */
  IDEMPOTENCY_KEYS_PER_DAY: integerEnvSchema(0).default(1_000_000),
  /** The maximum bytes of stored responses per location and day; beyond them only the fingerprint is stored. */
  IDEMPOTENCY_BYTES_PER_DAY: integerEnvSchema(0).default(250_000_000),
  /** The largest response body that is stored for an Idempotency-Key, in bytes. */
  IDEMPOTENCY_REPLY_BYTES: integerEnvSchema(0).default(65_536),
  /**
   * Megabytes of request bodies that the process holds at once. The default is a quarter of its memory or half of its
   * heap, whichever is less, and at most 256.
   */
  RECEIVING_BUDGET_MB: integerEnvSchema(56, 65_536).optional(),
  /** The kilobytes (inflated) that a body of more than 64 KB must bring in each window of `BODY_WINDOW_SECONDS`. */
  BODY_MIN_KB: integerEnvSchema(1, 1_024).default(32),
  BODY_WINDOW_SECONDS: integerEnvSchema(1, 300).default(10),
  /** Replicas of the event stream; 3 on a NATS cluster. */
  STREAM_REPLICAS: integerEnvSchema(1, 5).default(1),
  /**
   * The maximum size of the event stream in bytes; further events wait in the outboxes until older ones expire. The
   * default exceeds what one location may fill with live orders in the 14 days for which events are kept.
   */
  EVENT_STREAM_MAX_BYTES: integerEnvSchema(1_000_000).default(16_000_000_000),
  /**
   * Whether this process creates its tables and the event stream. With `off` it waits until the `migrate` command has
   * created them.
   */
  MIGRATE: z.enum(["on", "off"]).default("on"),
  /** The maximum bytes of large responses that a service holds in memory until clients have read them. */
  UNREAD_REPLY_BYTES: integerEnvSchema(1_000_000).default(128 * 1024 * 1024),
  /** The same limit for one API key. */
  UNREAD_REPLY_BYTES_PER_KEY: integerEnvSchema(1_000_000).default(32 * 1024 * 1024),
  ...serverTlsConfig.shape,
});

export type CommonServiceConfig = z.infer<typeof commonServiceConfig>;

/** The default rate limit of API keys: the gateway applies it, accounts compares requested limits with it. */
export const defaultRateLimitConfig = z.object({
  RATE_LIMIT_PER_SECOND: integerEnvSchema(1, 1_000_000).default(100),
  RATE_LIMIT_BURST: integerEnvSchema(1, 10_000_000).default(2_000),
});
