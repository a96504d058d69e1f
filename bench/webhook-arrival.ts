/** A message as it came to a receiver. */
export interface WebhookArrival {
  path: string;
  /** The order that it tells of. */
  orderId: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** Milliseconds since 1970, with fractions: what processes on one machine compare their times by. */
export function preciseEpochMs(): number {
  return performance.timeOrigin + performance.now();
}
