/** Milliseconds to wait before try number `attempt` (1 is the first retry): doubling, with jitter, up to `longest`. */
export function computeRetryDelayMs(attempt: number, { first = 100, longest = 10_000 } = {}): number {
  const full = Math.min(longest, first * 2 ** Math.min(attempt - 1, 20));
  return Math.round(full * (0.5 + Math.random() / 2));
}
