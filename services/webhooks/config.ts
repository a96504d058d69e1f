import { numberFromEnv, runtimeConfig } from "@pragma/runtime/config/runtime-config";
import { z } from "zod";
import { parseEndpointAllowlist } from "./endpoints/address-policy.ts";

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `5s,30m,2h` in milliseconds. */
const retryScheduleFromEnv = z.string().transform((text, context) => {
  const delaysMs = text.split(",").map((wait) => {
    const [, number, unit] = /^(\d{1,6})([smh])$/.exec(wait.trim()) ?? [];
    return Number(number) * unitMs[unit as keyof typeof unitMs];
  });
  if (delaysMs.every((delay) => delay >= 0)) return delaysMs;
  context.addIssue({ code: "custom", message: "must be durations with commas between them, such as 5s,5m,2h" });
  return z.NEVER;
});

const allowlistFromEnv = z.string().transform((text, context) => {
  try {
    return parseEndpointAllowlist(text);
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
    return z.NEVER;
  }
});

export const webhooksConfig = z.object({
  /** Encrypt the recipients' secrets. */
  DATA_KEYS: runtimeConfig.shape.DATA_KEYS,
  /** In `production` endpoints are https only, and none is on this machine. */
  NODE_ENV: z.string().default("development"),
  /** Endpoints that may be where others may not: hosts, addresses and CIDR ranges, with commas between them. */
  WEBHOOK_ALLOWLIST: allowlistFromEnv.prefault(""),
  /** How long after each failure a delivery is tried again; after as many failures and one more it has failed. */
  WEBHOOK_SCHEDULE: retryScheduleFromEnv.prefault("5s,5m,30m,2h,5h,10h,14h,20h,24h"),
  /** How long an endpoint may take to answer. */
  WEBHOOK_TIMEOUT_SECONDS: numberFromEnv(1, 60).default(15),
  /** Messages on their way at once from one instance to one endpoint. */
  WEBHOOK_ENDPOINT_CONCURRENCY: numberFromEnv(1, 1_000).default(20),
  /**
   * Messages from one instance to one host, for all locations together: a second, and at once after a quiet time. Others
   * wait. With several instances a host may get as many times that.
   */
  WEBHOOK_HOST_RATE: numberFromEnv(1, 100_000).default(50),
  WEBHOOK_HOST_BURST: numberFromEnv(1, 100_000).default(200),
  /** How many recipients and webhooks a location may have: one event is sent as often as webhooks listen to it. */
  RECIPIENTS_PER_LOCATION: numberFromEnv(1, 100_000).default(50),
  WEBHOOKS_PER_LOCATION: numberFromEnv(1, 100_000).default(50),
  /** How long messages and the log of their deliveries are kept. */
  WEBHOOK_KEPT_DAYS: numberFromEnv(4, 365).default(30),
});

export type WebhooksConfig = z.output<typeof webhooksConfig>;

/** How long an attempt may take, in milliseconds. */
export const attemptTimeoutMs = (config: WebhooksConfig): number => config.WEBHOOK_TIMEOUT_SECONDS * 1_000;

/** How long a claim lasts, in milliseconds: half of it for the endpoint to answer, half for that to be written down. */
export const claimLeaseMs = (config: WebhooksConfig): number => 2 * attemptTimeoutMs(config);
