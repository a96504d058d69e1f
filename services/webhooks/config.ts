import { commonServiceConfigSchema, integerEnvSchema } from "@pragma/runtime/config/runtime-config";
import { z } from "zod";
import { parseWebhookAddressAllowlist } from "./endpoints/address-policy.ts";

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses comma-separated durations, such as `5s,30m,2h`, to milliseconds. */
const retryScheduleFromEnv = z.string().transform((text, context) => {
  const delaysMs = text.split(",").map((duration) => {
    const [, number, unit] = /^(\d{1,6})([smh])$/.exec(duration.trim()) ?? [];
    return Number(number) * unitMs[unit as keyof typeof unitMs];
  });
  if (delaysMs.every((delay) => delay >= 0)) return delaysMs;
  context.addIssue({ code: "custom", message: "must be a comma-separated list of durations, such as 5s,5m,2h" });
  return z.NEVER;
});

const allowlistFromEnv = z.string().transform((text, context) => {
  try {
    return parseWebhookAddressAllowlist(text);
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
    return z.NEVER;
  }
});

export const webhooksServiceConfigSchema = z.object({
  /** Keys that encrypt the signing secrets and the API keys of recipients. */
  DATA_KEYS: commonServiceConfigSchema.shape.DATA_KEYS,
  /** In `production`, endpoints must use https, and only `WEBHOOK_ALLOWLIST` can allow loopback addresses. */
  NODE_ENV: z.string().default("development"),
  /** Comma-separated hosts, IP addresses and CIDR ranges whose endpoints are allowed although they are not public. */
  WEBHOOK_ALLOWLIST: allowlistFromEnv.prefault(""),
  /**
   * The URL of the inboxes of sandboxes, if the service sandboxes has them. Endpoints with exactly its scheme, host and port
   * are allowed although they are neither https nor public.
   */
  SANDBOX_INBOX_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Delay before each retry of a delivery. If the retry after the last delay fails, the delivery fails permanently. */
  WEBHOOK_RETRY_SCHEDULE: retryScheduleFromEnv.prefault("5s,5m,30m,2h,5h,10h,14h,20h,24h"),
  /** Timeout of one attempt, in seconds. */
  WEBHOOK_TIMEOUT_SECONDS: integerEnvSchema(1, 60).default(15),
  /** Maximum number of messages in flight from one instance to one endpoint. Test messages are not counted. */
  WEBHOOK_ENDPOINT_MAX_CONCURRENCY: integerEnvSchema(1, 1_000).default(20),
  /**
   * Rate (messages per second) and burst (messages) of the token bucket that limits what one instance sends to one
   * host, across all locations. Each instance has its own bucket, so a host may receive this rate from each instance.
   */
  WEBHOOK_HOST_RATE_PER_SECOND: integerEnvSchema(1, 100_000).default(50),
  WEBHOOK_HOST_BURST: integerEnvSchema(1, 100_000).default(200),
  /**
   * Maximum numbers of recipients and of webhooks per location. The maximum number of webhooks limits the messages per
   * event, because each event is sent once to each webhook that subscribes to the event.
   */
  MAX_RECIPIENTS_PER_LOCATION: integerEnvSchema(1, 100_000).default(50),
  MAX_WEBHOOKS_PER_LOCATION: integerEnvSchema(1, 100_000).default(50),
  /**
   * The same maximum for the location of a sandbox, including the webhook of its inbox, and the maximum number of deliveries
   * that one request replays there. Everyone can create a sandbox, so its messages must not burden other servers.
   */
  MAX_WEBHOOKS_PER_SANDBOX: integerEnvSchema(1, 100_000).default(5),
  MAX_REPLAYED_DELIVERIES_PER_SANDBOX: integerEnvSchema(1, 1_000).default(20),
  /** Maximum number of messages, with retries, replays and tests, that a sandbox sends per day (UTC), except to its inbox. */
  MAX_SANDBOX_WEBHOOK_MESSAGES_PER_DAY: integerEnvSchema(1, 1_000_000).default(2_000),
  /** Number of days for which messages, delivery logs, hourly statistics and finished recoveries are stored. */
  WEBHOOK_RETENTION_DAYS: integerEnvSchema(4, 365).default(30),
});

export type WebhooksServiceConfig = z.output<typeof webhooksServiceConfigSchema>;

export const getWebhookAttemptTimeoutMs = (config: WebhooksServiceConfig): number =>
  config.WEBHOOK_TIMEOUT_SECONDS * 1_000;

/**
 * Returns the duration of a claim's lease in milliseconds. Half of it is for the attempt, the other half for the work
 * before and after the attempt, such as loading the endpoint and recording the result.
 */
export const getWebhookClaimLeaseMs = (config: WebhooksServiceConfig): number => 2 * getWebhookAttemptTimeoutMs(config);
