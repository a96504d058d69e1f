import { isEventLoopBusy } from "./event-loop-load.ts";

/** For how many milliseconds after work of two senders the event loop counts as shared. */
const presenceMs = 1_000;

let lastSenderId: string | undefined;
let lastSeenAt = Number.NEGATIVE_INFINITY;
let sharedUntil = Number.NEGATIVE_INFINITY;

/** Records that there is work of a sender, from which `isContended` derives whether several senders share this process. */
export function recordSender(senderId: string): void {
  const now = performance.now();
  if (senderId !== lastSenderId && now - lastSeenAt < presenceMs) sharedUntil = now + presenceMs;
  lastSenderId = senderId;
  lastSeenAt = now;
}

/** Returns whether several senders share a busy event loop. A single sender may use the whole event loop. */
export const isContended = (): boolean => performance.now() < sharedUntil && isEventLoopBusy();

/**
 * Returns the pause after a piece of work of a sender, in milliseconds: while several senders share a busy event loop, twice
 * as long as the work has taken, up to `maxMs`, and otherwise 0. A sender with much work then uses at most a third of the
 * time.
 */
export function computePauseMs(startedAtMs: number, maxMs: number): number {
  return isContended() ? Math.min(maxMs, 2 * (performance.now() - startedAtMs)) : 0;
}
