import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@pragma/runtime/logger";
import type { Sql } from "@pragma/runtime/postgres";
import { createSemaphore } from "@pragma/runtime/semaphore";
import { findListed, type OrderPlace } from "../queries/lists.ts";
import { findExtent, findRevisions } from "../queries/streams.ts";
import {
  currentOrder,
  positionIn,
  type ResetReason,
  ready,
  reset,
  type SharedTexts,
  type StreamReader,
} from "./reader.ts";

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

/** Where a stream begins: after a place in the log, or with the orders as they are. */
export type Start = { after: number } | { reset?: ResetReason };

/** Changes, and orders, that are read at a time for one reader, and bytes of them. */
const ownBatch = { limit: 50, maxBytes: 256 * 1024 };

/** Where the stream of a reader begins that gives back this event id, or none. */
export async function findStart(sql: Sql, locationId: string, lastEventId: string | undefined): Promise<Start> {
  if (lastEventId === undefined) return {};
  const position = positionIn(locationId, lastEventId);
  const { first, last } = await findExtent(sql, locationId);
  if (position === undefined || position > last) return { reset: "unknown" };
  return position < first ? { reset: "expired" } : { after: position };
}

/**
 * Sends a reader everything until its stream is over: the orders as they are unless it goes on from a place in the log,
 * then the log as fast as it takes it, then, from the channel, what comes; and the log again whenever it lags.
 */
export async function follow(reader: StreamReader, start: Start, { sql, channel }: Source): Promise<void> {
  let shown: Shown | undefined;
  if ("after" in start) reader.position = start.after;
  else shown = await showCurrent(reader, { sql, channel }, start.reset);
  while (!reader.outlet.isOver) {
    if (!(await catchUp(reader, { sql, channel }, shown))) {
      shown = await showCurrent(reader, { sql, channel }, "expired");
      continue;
    }
    shown = undefined;
    if (!reader.isReady) reader.write(ready(reader.locationId, reader.position));
    reader.isReady = true;
    if (channel.admit(reader)) await reader.untilBehind();
  }
}

interface Source {
  sql: Sql;
  channel: Channel;
}

/** The orders that were shown as they are, each with its position in the log then. */
type Shown = Map<string, number>;

/** Sends the orders as they are, page by page. What changes in the meantime is in the log after the reader's position. */
async function showCurrent(
  reader: StreamReader,
  { sql, channel }: Source,
  reason: ResetReason | undefined,
): Promise<Shown> {
  const { locationId, filter, outlet } = reader;
  const shown: Shown = new Map();
  reader.isReady = false;
  if (reason) reader.write(reset(reason));
  reader.position = (await findExtent(sql, locationId)).last;
  /** Ends before it is waited for the reader, so that no text is kept meanwhile but what the reader was given. */
  const showPage = async (after: OrderPlace | null): Promise<OrderPlace | null> => {
    const { orders, hasMore } = await findListed(sql, { locationId, filter }, { after, offset: 0, ...ownBatch });
    for (const { id, position } of orders) shown.set(id, position);
    reader.write(orders.map(({ body }) => currentOrder(body)).join(""));
    const last = hasMore ? orders.at(-1) : undefined;
    return last ? { at: last.at, id: last.id } : null;
  };
  for (let after: OrderPlace | null = null, isFirst = true; (after || isFirst) && !outlet.isOver; isFirst = false) {
    const from: OrderPlace | null = after;
    after = await channel.catchingUp.run(async () => {
      const next = await showPage(from);
      await outlet.drained();
      return next;
    });
  }
  return shown;
}

/** Sends the log up to its end, but for changes that were shown already; false when a part of it is gone. */
async function catchUp(reader: StreamReader, { sql, channel }: Source, shown: Shown | undefined): Promise<boolean> {
  const { locationId, outlet } = reader;
  const sendBatch = async (): Promise<"more" | "end" | "gap"> => {
    const revisions = await findRevisions(sql, { locationId, after: reader.position, ...ownBatch });
    const [first] = revisions;
    if (!first) return "end";
    if (first.position !== reader.position + 1) return "gap";
    reader.send(revisions.filter(({ orderId, position }) => position > (shown?.get(orderId) ?? 0)));
    reader.position = revisions.at(-1)?.position ?? reader.position;
    return "more";
  };
  while (!outlet.isOver) {
    const outcome = await channel.catchingUp.run(async () => {
      const sent = await sendBatch();
      if (sent === "more") await outlet.drained();
      return sent;
    });
    if (outcome !== "more") return outcome === "end";
  }
  return true;
}
