/** The arrival of a message at a receiver. */
export interface WebhookArrival {
  path: string;
  /** The order in the message. */
  orderId: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** Returns milliseconds since 1970 with fractions, which are comparable between processes on one machine. */
export function getPreciseEpochMs(): number {
  return performance.timeOrigin + performance.now();
}
