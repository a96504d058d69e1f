import { defaultDocsUrl } from "@pragma/contracts/published-urls";
import { z } from "zod";
import type { EnvironmentVariables } from "./environment-variables.ts";
import { serverTlsConfigSchema } from "./server-tls.ts";

/** The error for an invalid configuration. Its message lists all issues for the operator who starts the process. */
export class ConfigError extends Error {
  constructor(issues: string[]) {
    super(`Invalid configuration, ${issues.length} issue(s):\n${issues.map((issue) => `  - ${issue}`).join("\n")}`);
    this.name = "ConfigError";
  }
}

/**
 * Reads the configuration from the environment variables, validates it with a schema, and returns it.
 *
 * @throws `ConfigError` that lists all issues, but never a value, because values can be secrets.
 */
export function readConfigFromEnvironment<Schema extends z.ZodType>(
  schema: Schema,
  environment: EnvironmentVariables,
): z.output<Schema> {
  // An empty variable is treated as not set, because compose files and shells often set variables to empty strings.
  const nonEmpty = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const result = schema.safeParse(nonEmpty, {
    error: ({ input }) => (input === undefined ? "is required, but not set" : undefined),
  });
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

/**
 * Parses a list of keys in the format `name:secret,...`. To allow key rotation, the first key signs or encrypts, and
 * all keys can verify or decrypt.
 */
export const secretKeysEnvSchema = z
  .string()
  .transform((text) => text.split(",").map((entry) => entry.trim().split(":")))
  .pipe(
    z
      .array(
        z.tuple(
          [z.string().regex(/^[\w.-]+$/), z.string().min(32)],
          "must be name:secret entries, with letters and digits in each name and 32 or more characters in each secret",
        ),
      )
      .min(1),
  )
  .transform((entries) => entries.map(([id, secret]) => ({ id, secret })));

/** The environment variables about the documentation, which the gateway, all services and their programs read. */
export const docsConfigSchema = z.object({
  /** The URL of the installation's documentation. `/health` returns it, and the `type` of each error begins with it. */
  DOCS_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ""))
    .default(defaultDocsUrl),
});

/** The environment variables that all services read. */
export const commonServiceConfigSchema = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// URL" }),
  /**
   * The URL of a connection pooler in transaction mode in front of that database. If it is set, queries use it, and only
   * migrations and leader election, which need a session of their own, use `DATABASE_URL`.
   */
  DATABASE_TRANSACTION_URL: z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// URL" }).optional(),
  /**
   * The URL of a streaming replica of that server, from which reports and orders are read once it has all writes of
   * their location. It must lead to one server.
   */
  DATABASE_READ_URL: z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// URL" }).optional(),
  /** `nats://user:password@host:4222`. Further servers of a cluster are appended: `,host:4222,host:4222`. */
  NATS_URL: z.string().refine(isNatsServerList, "must be a nats:// URL"),
  /** The encryption keys for stored data, as `name:secret,...`. The first key encrypts; all keys can decrypt. */
  DATA_KEYS: secretKeysEnvSchema,
  ...docsConfigSchema.shape,
  /** The size of each service instance's PostgreSQL connection pool. Leader election uses one more connection. */
  DATABASE_POOL: integerEnvSchema(2, 200).default(10),
  /** The prefix of all schemas, subjects and streams, so that several installations can share the same servers. */
  NAMESPACE: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,30}$/)
    .default("pragma"),
  /**
   * The seconds after which the handler of an event is abandoned and NATS delivers the event again. The default is enough
   * for four statements that reach their timeout of 30 seconds, and for the largest tills on a busy machine.
   */
  EVENT_HANDLER_TIMEOUT_SECONDS: integerEnvSchema(1, 3_600).default(120),
  /** The seconds after which a periodic task is abandoned, unless the task has a longer timeout of its own. */
  PERIODIC_TASK_TIMEOUT_SECONDS: integerEnvSchema(1, 86_400).default(600),
  /**
   * The seconds without progress, although there is work and every server responds, after which a process exits. Must be
   * more than `EVENT_HANDLER_TIMEOUT_SECONDS`, so that handlers that hang are abandoned first. The default is longer than
   * five attempts, after which an event whose handler always hangs becomes a dead letter.
   */
  STALL_TIMEOUT_SECONDS: integerEnvSchema(2, 86_400).default(900),
  /**
   * For how many days ids of handled events are stored. At least 15 days plus `SENT_EVENT_RETENTION_HOURS`, rounded up to
   * days: an event can be published again until it is removed from the sent events, and then be redelivered for 14 days.
   */
  INBOX_RETENTION_DAYS: integerEnvSchema(15, 365).default(21),
  /**
   * For how many hours a service stores the events that it has sent, so that it can publish them again if NATS loses them.
   * At most 13 days. They are removed by whole days (UTC). The default is enough to restore a copy of NATS that is a day
   * old.
   */
  SENT_EVENT_RETENTION_HOURS: integerEnvSchema(1, 312).default(48),
  /** The maximum number of new Idempotency-Keys per location and day (UTC). Failed requests do not count. */
  IDEMPOTENCY_MAX_KEYS_PER_DAY: integerEnvSchema(0).default(1_000_000),
  /**
   * The maximum total size, in bytes, of the response bodies that are stored per location and day (UTC) for requests
   * with an Idempotency-Key. A response that would exceed it is stored without its body.
   */
  IDEMPOTENCY_MAX_BYTES_PER_DAY: integerEnvSchema(0).default(250_000_000),
  /** The maximum size, in bytes, of a response body that is stored for an Idempotency-Key. */
  IDEMPOTENCY_RESPONSE_MAX_BYTES: integerEnvSchema(0).default(65_536),
  /**
   * The maximum total size, in megabytes, of the request bodies in memory at the same time. The default is a quarter of
   * the process's memory or half of its heap, whichever is less, but at least 56 and at most 256 megabytes.
   */
  REQUEST_BODY_MEMORY_MB: integerEnvSchema(56, 65_536).optional(),
  /**
   * The minimum number of kilobytes, after decompression, that a client must send every `BODY_RATE_WINDOW_SECONDS` once
   * more than 64 KB have arrived. A slower request is rejected, because its body occupies memory.
   */
  BODY_RATE_MIN_KB: integerEnvSchema(1, 1_024).default(32),
  BODY_RATE_WINDOW_SECONDS: integerEnvSchema(1, 300).default(10),
  /** The number of replicas of the event streams. Set it to 3 on a NATS cluster. */
  EVENT_STREAM_REPLICAS: integerEnvSchema(1, 5).default(1),
  /**
   * The maximum size, in bytes, of the stream of order events. If the stream is full, new order events wait in the
   * outbox until older ones expire after 14 days. The default is more than the 14 GB that the live orders of one
   * location can fill in 14 days.
   */
  ORDER_EVENT_STREAM_MAX_BYTES: integerEnvSchema(1_000_000).default(16_000_000_000),
  /**
   * The maximum size, in bytes, of the stream of all other events. If the stream is full, tills are accepted but get no
   * reports until older events expire after 14 days.
   */
  TILL_EVENT_STREAM_MAX_BYTES: integerEnvSchema(1_000_000).default(4_000_000_000),
  /**
   * Whether this process creates and updates its tables and the event streams. With `off`, the `migrate` command must do
   * so, and the process waits for the tables.
   */
  MIGRATE: z.enum(["on", "off"]).default("on"),
  /** The maximum total size, in bytes, of the large responses that a service has in memory until clients read them. */
  UNREAD_RESPONSE_MAX_BYTES: integerEnvSchema(1_000_000).default(128 * 1024 * 1024),
  /** The maximum total size, in bytes, of the large responses in memory to API keys of the same location. */
  UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION: integerEnvSchema(1_000_000).default(32 * 1024 * 1024),
  ...serverTlsConfigSchema.shape,
});

export type CommonServiceConfig = z.infer<typeof commonServiceConfigSchema>;

/**
 * The rate limit of API keys whose consumer has no rate limit of its own. The gateway enforces it. The accounts service
 * also reads it, because a key must not grant a rate limit that is higher than its own.
 */
export const defaultRateLimitConfigSchema = z.object({
  RATE_LIMIT_PER_SECOND: integerEnvSchema(1, 1_000_000).default(100),
  RATE_LIMIT_BURST: integerEnvSchema(1, 10_000_000).default(2_000),
  /**
   * The rate limit of all API keys of a location together, as a multiple of the rate limit above. Keys whose consumer has
   * a higher rate limit than all keys together do not count.
   */
  RATE_LIMIT_LOCATION_FACTOR: integerEnvSchema(1, 10_000).default(3),
});
