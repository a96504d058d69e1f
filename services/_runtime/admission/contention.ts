import { LRUCache } from "lru-cache";
import { isEventLoopBusy } from "./event-loop-load.ts";

/** For how many milliseconds after work of two senders the event loop counts as shared. */
const presenceMs = 1_000;
/** How long the pause after a piece of work is, in multiples of the time that the work has taken. */
const pauseFactor = 6;
const maxPauseMs = 1_000;
const workHalfLifeMs = 1_000;

let lastSenderId: string | undefined;
let lastSeenAt = Number.NEGATIVE_INFINITY;
let sharedUntil = Number.NEGATIVE_INFINITY;
/** When the pauses of each sender end. The senders that are forgotten are those whose pauses are the oldest. */
const pausedUntil = new LRUCache<string, number>({ max: 1_000 });
/** The recent work of each sender whose further work waits, in milliseconds, as of a time. */
const recentWork = new LRUCache<string, { milliseconds: number; at: number }>({ max: 1_000 });

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
 * Returns the pause after a piece of work of a sender, in milliseconds: 0, or while several senders share a busy event
 * loop, six times as long as the work has taken, up to a second. The pauses of one sender follow one another, so that
 * all its work together takes about a seventh of the time. A sender that has worked less than the average gets no
 * pause, because its work takes long only because of the others. This is not so for work that `usesOnlyEventLoop`: it is
 * shorter than work that waits for a database, but delays others more.
 */
export function computePauseMs(senderId: string, startedAtMs: number, { usesOnlyEventLoop = false } = {}): number {
  if (!isContended()) return 0;
  const now = performance.now();
  if (isBelowAverage(senderId, now - startedAtMs, now) && !usesOnlyEventLoop) return 0;
  const begin = Math.max(now, pausedUntil.get(senderId) ?? 0);
  const end = Math.min(now + maxPauseMs, begin + pauseFactor * (now - startedAtMs));
  pausedUntil.set(senderId, end);
  return end - now;
}

/** Adds a piece of work, and returns whether the sender has worked less than the average of the senders of the last second. */
function isBelowAverage(senderId: string, milliseconds: number, now: number): boolean {
  const decay = ({ milliseconds, at }: { milliseconds: number; at: number }) =>
    milliseconds * 2 ** ((at - now) / workHalfLifeMs);
  const before = recentWork.get(senderId);
  const own = milliseconds + (before ? decay(before) : 0);
  recentWork.set(senderId, { milliseconds: own, at: now });
  let total = 0;
  let count = 0;
  // Begins with the latest work.
  for (const work of recentWork.values()) {
    if (now - work.at > presenceMs) break;
    total += decay(work);
    count += 1;
  }
  return own < total / count;
}
