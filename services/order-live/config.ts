import type { LocationRef } from "@pragma/contracts/principal";
import type { LocationDailyQuota } from "@pragma/runtime/admission/daily-quota";
import { integerEnvSchema } from "@pragma/runtime/config/runtime-config";
import { pageMaxBytesConfig } from "@pragma/runtime/http/page-response";
import { z } from "zod";

export const orderLiveServiceConfigSchema = z.object({
  ...pageMaxBytesConfig,
  /** Number of hours for which changes are stored in the log. A disconnected stream can resume during this time. */
  LIVE_LOG_RETENTION_HOURS: integerEnvSchema(1, 168).default(24),
  /** Retention of departed orders, of unchanged live orders, and of the ids of tills with a final report, in days. */
  LIVE_ORDERS_RETENTION_DAYS: integerEnvSchema(2, 365).default(30),
  /** Maximum size of a stored order in bytes, because an event with the order must fit into a NATS message of 1 MiB. */
  LIVE_ORDER_MAX_BYTES: integerEnvSchema(10_000, 1000 * 1024).default(512 * 1024),
  /** Maximum bytes per day of the orders that a location creates and updates, as stored. A busy day has about 10 MB. */
  MAX_LIVE_ORDER_BYTES_PER_DAY: integerEnvSchema(1).default(1_000_000_000),
  /**
   * Maximum bytes of the order events that a location sends per day. With the default, it fills at most 1.4 GB of the
   * stream, which keeps events for 14 days and holds 16 GB (`ORDER_EVENT_STREAM_MAX_BYTES`).
   */
  MAX_LIVE_ORDER_EVENT_BYTES_PER_DAY: integerEnvSchema(1).default(100_000_000),
  /** Interval between the heartbeats of a stream, in seconds. While the client has unread data, none is sent. */
  STREAM_HEARTBEAT_SECONDS: integerEnvSchema(1, 60).default(15),
  /** Number of seconds after which a stream is closed if its client has unread data and reads nothing. */
  STREAM_STALL_TIMEOUT_SECONDS: integerEnvSchema(1, 600).default(30),
});

export type OrderLiveServiceConfig = z.output<typeof orderLiveServiceConfigSchema>;

/**
 * A sandbox has a quarter of the quotas, because everyone can create one and send its events to any endpoint. While it is
 * used all day, its simulated orders have about 26 MB a day, and their events 16 MB.
 */
const sandboxQuotaDivisor = 4;

/** Returns a function that returns the daily quotas of a location. */
export function createOrderQuotas(config: OrderLiveServiceConfig) {
  const divideBy = (divisor: number) => {
    const divide = (maximum: number) => Math.max(1, Math.floor(maximum / divisor));
    const unit = "bytes";
    return {
      orderBytes: { name: "live_order_bytes", maximum: divide(config.MAX_LIVE_ORDER_BYTES_PER_DAY), unit },
      /** Limits the share of the stream of order events that is filled by one location. */
      eventBytes: { name: "live_order_event_bytes", maximum: divide(config.MAX_LIVE_ORDER_EVENT_BYTES_PER_DAY), unit },
    } satisfies Record<string, LocationDailyQuota>;
  };
  const [quotas, sandboxQuotas] = [divideBy(1), divideBy(sandboxQuotaDivisor)];
  return ({ isSandbox }: Pick<LocationRef, "isSandbox">) => (isSandbox ? sandboxQuotas : quotas);
}

/** Returns the time before which departed orders, unchanged orders and tills with a final report are removed. */
export const computeLiveOrderRetentionCutoff = ({ LIVE_ORDERS_RETENTION_DAYS: days }: OrderLiveServiceConfig) =>
  new Date(Date.now() - days * 24 * 3_600_000);
