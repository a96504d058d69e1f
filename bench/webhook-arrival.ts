/** The arrival of a message at a receiver. */
export interface BenchWebhookArrival {
  path: string;
  /** The id of the order in the message. */
  orderId: string;
  /** The time of arrival, in milliseconds since 1970. */
  at: number;
}

/** Returns the milliseconds since 1970, with fractions. Values of several processes on one machine are comparable. */
export function getPreciseEpochMs(): number {
  return performance.timeOrigin + performance.now();
}
