import { integerEnvSchema } from "@pragma/runtime/config/runtime-config";
import { pageSizeConfig } from "@pragma/runtime/http/page-response";
import { z } from "zod";

export const orderLiveConfig = z.object({
  ...pageSizeConfig,
  /** Hours for which the change log is kept, and with it how long after a disconnect a stream can be resumed. */
  LIVE_LOG_KEPT_HOURS: integerEnvSchema(1, 168).default(24),
  /** Days for which departed orders, unchanged live orders and the ids of final tills are kept. */
  LIVE_ORDERS_KEPT_DAYS: integerEnvSchema(2, 365).default(30),
  /** Maximum stored bytes of one order. An event with the order must fit into a NATS message of one mebibyte. */
  LIVE_ORDER_MAX_BYTES: integerEnvSchema(10_000, 1000 * 1024).default(512 * 1024),
  /** Bytes of orders that a location may send per day: 100 times 200 orders of 10 KB with five changes each. */
  LIVE_ORDER_BYTES_PER_DAY: integerEnvSchema(1).default(1_000_000_000),
  /** Interval of the heartbeats of an idle stream. */
  STREAM_HEARTBEAT_SECONDS: integerEnvSchema(1, 60).default(15),
  /** Time after which a stream is closed whose client reads nothing. */
  STREAM_STALL_SECONDS: integerEnvSchema(1, 600).default(30),
});

export type OrderLiveConfig = z.output<typeof orderLiveConfig>;

/** Returns the time before which departed orders, unchanged orders and final tills are removed. */
export const orderRetentionCutoff = ({ LIVE_ORDERS_KEPT_DAYS: days }: OrderLiveConfig) =>
  new Date(Date.now() - days * 24 * 3_600_000);
