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

/** Returns the time before which departed orders, unchanged orders and tills with a final report are removed. */
export const computeLiveOrderRetentionCutoff = ({ LIVE_ORDERS_RETENTION_DAYS: days }: OrderLiveServiceConfig) =>
  new Date(Date.now() - days * 24 * 3_600_000);
