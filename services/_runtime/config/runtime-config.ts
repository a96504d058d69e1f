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

/** Returns the configuration in the environment. @throws `ConfigError` without values, which can be secrets. */
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

/** A list `name:secret,...`, of which the first key signs or encrypts, and all can verify or decrypt. */
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

export const commonServiceConfigSchema = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// URL" }),
  /** A connection pooler in transaction mode. Migrations and leader election still use `DATABASE_URL`. */
  DATABASE_TRANSACTION_URL: z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// URL" }).optional(),
  /** One streaming replica, from which reports and orders are read once it has all writes of their location. */
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
  /** The default is enough for four statements that time out after 30 seconds, and for the largest tills. */
  EVENT_HANDLER_TIMEOUT_SECONDS: integerEnvSchema(1, 3_600).default(120),
  /** The seconds after which a periodic task is abandoned, unless the task has a longer timeout of its own. */
  PERIODIC_TASK_TIMEOUT_SECONDS: integerEnvSchema(1, 86_400).default(600),
  /** The default is longer than five attempts, after which an event whose handler hangs becomes a dead letter. */
  STALL_TIMEOUT_SECONDS: integerEnvSchema(2, 86_400).default(900),
  /** For how many days ids of handled events are stored; see `checkServiceConfig`. */
  INBOX_RETENTION_DAYS: integerEnvSchema(15, 365).default(21),
  /** For how many hours a service can publish its events again if NATS loses them. Removed by whole days (UTC). */
  SENT_EVENT_RETENTION_HOURS: integerEnvSchema(1, 312).default(48),
  /** The maximum number of new Idempotency-Keys per location and day (UTC). Failed requests do not count. */
  IDEMPOTENCY_MAX_KEYS_PER_DAY: integerEnvSchema(0).default(1_000_000),
  /** Stored response bodies per location and day (UTC). A response that would exceed it is stored without its body. */
  IDEMPOTENCY_MAX_BYTES_PER_DAY: integerEnvSchema(0).default(250_000_000),
  IDEMPOTENCY_RESPONSE_MAX_BYTES: integerEnvSchema(0).default(65_536),
  /** The request bodies in memory at the same time; see `computeDefaultMemoryLimit` for the default. */
  REQUEST_BODY_MEMORY_MB: integerEnvSchema(56, 65_536).optional(),
  /** What a client must send in every window, after decompression, once more than 64 KB have arrived. */
  BODY_RATE_MIN_KB: integerEnvSchema(1, 1_024).default(32),
  BODY_RATE_WINDOW_SECONDS: integerEnvSchema(1, 300).default(10),
  /** The number of replicas of the event streams. Set it to 3 on a NATS cluster. */
  EVENT_STREAM_REPLICAS: integerEnvSchema(1, 5).default(1),
  /** The default is more than one location fills in 14 days (14 GB). If full, order events wait in the outbox. */
  ORDER_EVENT_STREAM_MAX_BYTES: integerEnvSchema(1_000_000).default(16_000_000_000),
  /** If this stream is full, tills are accepted but get no reports until older events expire after 14 days. */
  TILL_EVENT_STREAM_MAX_BYTES: integerEnvSchema(1_000_000).default(4_000_000_000),
  /** With `off`, the process waits until the `migrate` command has created the tables and event streams. */
  MIGRATE: z.enum(["on", "off"]).default("on"),
  UNREAD_RESPONSE_MAX_BYTES: integerEnvSchema(1_000_000).default(128 * 1024 * 1024),
  UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION: integerEnvSchema(1_000_000).default(32 * 1024 * 1024),
  ...serverTlsConfigSchema.shape,
});

export type CommonServiceConfig = z.infer<typeof commonServiceConfigSchema>;

/** The 14 days for which streams store events, and the day by whose end sent events are removed. */
const redeliveryDays = 15;

/**
 * Checks the variables that depend on each other: handlers that hang must be abandoned before the process counts as
 * stalled, and the inbox must recognize an event that NATS loses at the end of the retention of sent events and that is
 * then redelivered for as long as a stream stores it. @throws `ConfigError`
 */
export function checkServiceConfig({
  EVENT_HANDLER_TIMEOUT_SECONDS,
  STALL_TIMEOUT_SECONDS,
  INBOX_RETENTION_DAYS,
  SENT_EVENT_RETENTION_HOURS,
}: CommonServiceConfig): void {
  const problems: string[] = [];
  if (STALL_TIMEOUT_SECONDS <= EVENT_HANDLER_TIMEOUT_SECONDS)
    problems.push(
      `STALL_TIMEOUT_SECONDS: must be more than EVENT_HANDLER_TIMEOUT_SECONDS (${EVENT_HANDLER_TIMEOUT_SECONDS})`,
    );
  const minInboxDays = redeliveryDays + Math.ceil(SENT_EVENT_RETENTION_HOURS / 24);
  if (INBOX_RETENTION_DAYS < minInboxDays)
    problems.push(
      `INBOX_RETENTION_DAYS: must be at least ${minInboxDays}: ${redeliveryDays} days and SENT_EVENT_RETENTION_HOURS (${SENT_EVENT_RETENTION_HOURS})`,
    );
  if (problems.length > 0) throw new ConfigError(problems);
}

/** The rate limit of API keys whose consumer has none of its own, which keys that accounts creates cannot exceed. */
export const defaultRateLimitConfigSchema = z.object({
  RATE_LIMIT_PER_SECOND: integerEnvSchema(1, 1_000_000).default(100),
  RATE_LIMIT_BURST: integerEnvSchema(1, 10_000_000).default(2_000),
  /** A multiple of the rate above. Keys whose consumer has a higher rate than all keys together do not count. */
  RATE_LIMIT_LOCATION_FACTOR: integerEnvSchema(1, 10_000).default(3),
});
