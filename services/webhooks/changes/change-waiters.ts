import { ApiError } from "@pragma/contracts/errors";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import { KeyedUsageCounter } from "@pragma/runtime/limits/keyed-counter";
import type { InstanceNotifier } from "@pragma/runtime/messaging/event-bus";
import type { Logger } from "@pragma/runtime/observability/logger";
import { findLastChangePositions } from "../queries/changes.ts";

/** The requests of this process that wait for changes. They use no database connection while they wait. */
export type ChangeWaiters = ReturnType<typeof createChangeWaiters>;

/** Wakes the waiting requests of all instances. */
export type ChangeFeedNotifier = Pick<ChangeWaiters, "notify">;

/** A request that waits for changes of a location. */
export interface ChangeWaiter {
  /**
   * Resolves with true when the feed has a position at or after `position`, and with false when the time is over, the
   * client has disconnected, or the process stops.
   */
  waitForPosition(position: number): Promise<boolean>;
  close(): void;
}

interface ChangeWaitersOptions {
  sql: SqlClient;
  notifier: InstanceNotifier;
  log: Logger;
  /** The interval between polls for new positions, in milliseconds. Polls replace notifications that were lost. */
  pollMs: number;
  maxPerKey: number;
  maxPerProcess: number;
}

interface WaitRequest {
  locationId: string;
  keyId: string;
  timeoutMs: number;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

/** The waiters of one location, and the last position of which this process knows. */
interface WaitingLocation {
  position: number;
  waiters: Set<() => void>;
}

export function createChangeWaiters({ sql, notifier, log, pollMs, maxPerKey, maxPerProcess }: ChangeWaitersOptions) {
  const locations = new Map<string, WaitingLocation>();
  const counts = new KeyedUsageCounter();
  let pollTimer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function receivePosition(locationId: string, position: number): void {
    const location = locations.get(locationId);
    if (!location || position <= location.position) return;
    location.position = position;
    for (const check of [...location.waiters]) check();
  }
  // The text is the id of the location, so that instances of version 1.1 find no webhook with this id.
  notifier.subscribe((topic, locationId) => {
    const [, position] = /^changes-(\d+)$/.exec(topic) ?? [];
    if (position !== undefined) receivePosition(locationId, Number(position));
  });

  async function pollPositions(): Promise<void> {
    try {
      for (const { locationId, position } of await findLastChangePositions(sql, [...locations.keys()]))
        receivePosition(locationId, position);
    } catch (error) {
      log.debug({ err: error }, "failed to read positions of change feeds; retrying");
    }
  }

  return {
    /** Wakes the requests of all instances that wait for this position. Never throws. */
    notify(locationId: string, position: number): void {
      receivePosition(locationId, position);
      notifier.publish(`changes-${position}`, locationId);
    },
    /**
     * Counts a request as waiting until it calls `close`. Call this before the first read of the feed, so that no change
     * between the read and the wait is missed.
     *
     * @throws `ApiError` too_many_waiting_requests when the key or the process has too many.
     */
    open({ locationId, keyId, timeoutMs, signal }: WaitRequest): ChangeWaiter {
      if (counts.get(keyId) >= maxPerKey || counts.total >= maxPerProcess)
        throw new ApiError("too_many_waiting_requests", {
          detail: `At most ${maxPerKey} requests of an API key can wait at a time. Retry later, or without \`wait\`.`,
        });
      counts.add(1, keyId);
      const location = locations.get(locationId) ?? { position: 0, waiters: new Set() };
      locations.set(locationId, location);
      pollTimer ??= setInterval(() => void pollPositions(), pollMs);
      const deadline = performance.now() + timeoutMs;
      let wake: (() => void) | undefined;
      const check = () => wake?.();
      location.waiters.add(check);
      return {
        waitForPosition: (position) =>
          new Promise((resolve) => {
            const finish = () => {
              clearTimeout(timer);
              signal.removeEventListener("abort", finish);
              wake = undefined;
              resolve(location.position >= position && !signal.aborted);
            };
            const timer = setTimeout(finish, Math.max(0, deadline - performance.now()));
            signal.addEventListener("abort", finish);
            wake = () => {
              if (location.position >= position || isClosed) finish();
            };
            if (signal.aborted) finish();
            else wake();
          }),
        close() {
          if (!location.waiters.delete(check)) return;
          counts.add(-1, keyId);
          if (location.waiters.size === 0) locations.delete(locationId);
          if (locations.size > 0) return;
          clearInterval(pollTimer);
          pollTimer = undefined;
        },
      };
    },
    get waitingCount(): number {
      return counts.total;
    },
    /** Ends all waits. Later requests do not wait. */
    close(): void {
      isClosed = true;
      for (const { waiters } of locations.values()) for (const check of [...waiters]) check();
    },
  };
}
