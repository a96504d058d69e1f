import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@pragma/runtime/logger";
import type { Sql } from "@pragma/runtime/postgres";
import { createSemaphore } from "@pragma/runtime/semaphore";
import { findRevisions } from "../queries/streams.ts";
import type { SharedTexts, StreamReader } from "./reader.ts";

/** Changes that are read at a time, and bytes of them. */
const batch = { limit: 100, maxBytes: 256 * 1024 };
/** Bytes that may wait for a reader that is fed from here; one that lags more is sent the log at its own pace. */
const mostWaiting = 256 * 1024;
/** Readers of a location that are sent a batch of their own at a time: the others wait until one was taken. */
const maxCatchingUp = 8;
/** Milliseconds between two readings of a log: what comes in between is sent together, which costs far less. */
const restTime = 20;

/** One location's log, read once for all readers of this process that have caught up with it. */
export class Channel {
  readonly locationId: string;
  /** All readers of the location, those that are catching up among them. */
  readonly readers = new Set<StreamReader>();
  /** Held by a reader from before a batch of its own is read until it has taken it. */
  readonly catchingUp = createSemaphore(maxCatchingUp);
  readonly #sql: Sql;
  readonly #log: Logger;
  readonly #live = new Set<StreamReader>();
  #position = 0;
  /** There is something up to here, as far as was heard. */
  #heard = 0;
  #isReading = false;
  #readAt = 0;

  constructor(locationId: string, { sql, log }: { sql: Sql; log: Logger }) {
    this.locationId = locationId;
    this.#sql = sql;
    this.#log = log;
  }

  /** The location's log has grown up to this position. */
  hear(position: number): void {
    if (position > this.#heard) this.#heard = position;
    void this.#read();
  }

  /** Feeds a reader from now on; false when others are further: there is more in the log for it to catch up with. */
  admit(reader: StreamReader): boolean {
    if (this.#live.size === 0) this.#position = reader.position;
    if (reader.position < this.#position) return false;
    this.#live.add(reader);
    void this.#read();
    return true;
  }

  remove(reader: StreamReader): void {
    this.readers.delete(reader);
    this.#live.delete(reader);
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#live.size > 0 && this.#position < this.#heard) {
        const rest = this.#readAt + restTime - performance.now();
        if (rest > 0) await sleep(rest);
        this.#readAt = performance.now();
        const after = this.#position;
        const revisions = await findRevisions(this.#sql, { locationId: this.locationId, after, ...batch });
        if (this.#position !== after) continue;
        const [first] = revisions;
        if (!first) return;
        if (first.position !== after + 1) return this.#releaseAll();
        this.#position = revisions.at(-1)?.position ?? after;
        this.#feed(revisions);
      }
    } catch (error) {
      this.#log.warn({ err: error, locationId: this.locationId }, "a stream's log cannot be read; trying again soon");
    } finally {
      this.#isReading = false;
    }
  }

  #feed(revisions: Parameters<StreamReader["send"]>[0]): void {
    const shared: SharedTexts = new Map();
    for (const reader of this.#live) {
      if (reader.outlet.waiting > mostWaiting) this.#release(reader);
      else reader.send(revisions, shared);
    }
  }

  /** Something is missing between: each reader finds out for itself. */
  #releaseAll(): void {
    for (const reader of this.#live) this.#release(reader);
  }

  #release(reader: StreamReader): void {
    this.#live.delete(reader);
    reader.fallBehind();
  }
}
