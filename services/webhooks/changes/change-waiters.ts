import { EventEmitter, once } from "node:events";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import type { Database } from "@pragma/runtime/database/postgres";
import type { InstanceNotifier } from "@pragma/runtime/messaging/instance-notifier";
import type { Logger } from "@pragma/runtime/observability/logger";
import { sequenceChanges } from "../queries/all-changes.ts";

/** The requests of this process that wait for changes. They use no database connection while they wait. */
export type ChangeWaiters = ReturnType<typeof createChangeWaiters>;

/** Stands for the feed of all locations, instead of the id of a location. */
export const allLocations = "all";

interface WaitRequest {
  /** The id of the location, or `allLocations`. */
  waitKey: string;
  keyId: string;
  /** See `getSenderId`. */
  senderId: string;
  timeoutMs: number;
  signal: AbortSignal;
}

/** The waiters of one location, or of all locations, and the last position of which this process knows. */
interface WaitingLocation {
  position: number;
  waiterCount: number;
  /** Emits `moved` when there is a new position. */
  moves: EventEmitter;
}

/** The interval between polls for new positions, in milliseconds. Polls replace notifications that were lost. */
const pollMs = 2_000;
/** Milliseconds for which changes are collected before they are added to the feed of all locations. */
const sequencingDelayMs = 20;
const maxSequencedBatches = 10;

export function createChangeWaiters({ db, notifier, log }: { db: Database; notifier: InstanceNotifier; log: Logger }) {
  const locations = new Map<string, WaitingLocation>();
  const waitsOfKeys = new Admission(locationLimits.changeWaitsOfKey);
  const waits = new Admission(locationLimits.changeWaits);
  let pollTimer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isSequencing = false;
  let hasChangesToSequence = false;

  function receivePosition(locationId: string, position: number): void {
    const location = locations.get(locationId);
    if (!location || position <= location.position) return;
    location.position = position;
    location.moves.emit("moved");
  }

  /** Adds changes to the feed of all locations if a request of this process waits for it, and wakes the request. */
  async function sequenceForWaiters(): Promise<void> {
    hasChangesToSequence = true;
    if (isSequencing) return;
    isSequencing = true;
    try {
      while (hasChangesToSequence && !isClosed && locations.has(allLocations)) {
        await sleep(sequencingDelayMs);
        hasChangesToSequence = false;
        const { position, isComplete } = await sequenceChanges(db, { maxBatches: maxSequencedBatches });
        if (!isComplete) hasChangesToSequence = true;
        receivePosition(allLocations, position);
      }
    } catch (error) {
      log.debug({ err: error }, "failed to add changes to the feed of all locations; retrying");
    } finally {
      isSequencing = false;
    }
  }

  function receiveChange(locationId: string, position: number): void {
    receivePosition(locationId, position);
    if (locations.has(allLocations)) void sequenceForWaiters();
  }
  notifier.subscribe((topic, locationId) => {
    const [, position] = /^changes-(\d+)$/.exec(topic) ?? [];
    if (position !== undefined) receiveChange(locationId, Number(position));
  });

  async function pollPositions(): Promise<void> {
    if (locations.has(allLocations)) void sequenceForWaiters();
    try {
      const locationIds = [...locations.keys()].filter((id) => id !== allLocations);
      if (locationIds.length === 0) return;
      const moved = await db.sql<{ locationId: string; position: number }[]>`
        select location_id, position from change_positions where location_id = any(${locationIds}::uuid[])`;
      for (const { locationId, position } of moved) receivePosition(locationId, position);
    } catch (error) {
      log.debug({ err: error }, "failed to read positions of change feeds; retrying");
    }
  }

  return {
    /** Wakes the requests of all instances that wait for this position. Never throws. */
    notify(locationId: string, position: number): void {
      receiveChange(locationId, position);
      notifier.publish(`changes-${position}`, locationId);
    },
    /**
     * Counts a request as waiting until it calls `close`. Call this before the first read of the feed, so that no change
     * between the read and the wait is missed.
     *
     * @throws `ApiError` too_many_waiting_requests when the key or its location has too many, and overloaded when the
     * process has too many.
     */
    open({ waitKey, keyId, senderId, timeoutMs, signal }: WaitRequest) {
      const error = waitsOfKeys.findError(keyId) ?? waits.findError(senderId);
      if (error) throw error;
      const releases = [waitsOfKeys.holdBeyondLimit(keyId), waits.holdBeyondLimit(senderId)];
      const moves = new EventEmitter().setMaxListeners(0);
      const location = locations.get(waitKey) ?? { position: 0, waiterCount: 0, moves };
      locations.set(waitKey, location);
      location.waiterCount += 1;
      pollTimer ??= setInterval(() => void pollPositions(), pollMs);
      // Changes that were committed since the request last sequenced the feed are not in it, because no request was waiting.
      if (waitKey === allLocations) void sequenceForWaiters();
      const ending = new AbortController();
      const end = () => ending.abort();
      const timer = setTimeout(end, timeoutMs);
      signal.addEventListener("abort", end);
      return {
        /**
         * Resolves with true when the feed has a position at or after `position`, and with false when the time is over, the
         * client has disconnected, or the process stops.
         */
        async waitForPosition(position: number): Promise<boolean> {
          while (location.position < position && !isClosed && !signal.aborted && !ending.signal.aborted)
            await once(location.moves, "moved", { signal: ending.signal }).catch(() => {});
          return location.position >= position && !signal.aborted;
        },
        close(): void {
          clearTimeout(timer);
          signal.removeEventListener("abort", end);
          for (const release of releases) release();
          location.waiterCount -= 1;
          if (location.waiterCount === 0) locations.delete(waitKey);
          if (locations.size > 0) return;
          clearInterval(pollTimer);
          pollTimer = undefined;
        },
      };
    },
    get waitingCount(): number {
      return waits.held;
    },
    /** Ends all waits. Later requests do not wait. */
    close(): void {
      isClosed = true;
      for (const { moves } of locations.values()) moves.emit("moved");
    },
  };
}
