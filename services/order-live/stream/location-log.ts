import { setTimeout as sleep } from "node:timers/promises";
import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import type { Logger } from "@pragma/runtime/observability/logger";
import { findListedOrders, type OrderCursor } from "../queries/listed-orders.ts";
import { findLogRange, findRevisions } from "../queries/streams.ts";
import {
  formatCurrentOrder,
  formatReadyEvent,
  formatResetEvent,
  type LiveConnection,
  parseEventId,
  type SharedChunks,
  type StreamResetReason,
} from "./live-connection.ts";

/** Changes that are read at a time, and bytes of them. */
const liveBatch = { limit: 100, maxBytes: 256 * 1024 };
/** Bytes that may wait for a reader that is fed from here; one that lags more is sent the log at its own pace. */
const maxBufferedBytes = 256 * 1024;
/** Readers of a location that are sent a batch of their own at a time: the others wait until one was taken. */
const maxConcurrentCatchUps = 8;
/** Milliseconds between two readings of a log: what comes in between is sent together, which costs far less. */
const minReadIntervalMs = 20;

/** One location's log, read once for all readers of this process that have caught up with it. */
export class LocationLog {
  readonly locationId: string;
  /** All readers of the location, those that are catching up among them. */
  readonly connections = new Set<LiveConnection>();
  /** Held by a reader from before a batch of its own is read until it has taken it. */
  readonly catchUpSemaphore = createKeyedSemaphore(maxConcurrentCatchUps);
  readonly #sql: SqlClient;
  readonly #log: Logger;
  readonly #liveConnections = new Set<LiveConnection>();
  #position = 0;
  /** There is something up to here, as far as was heard. */
  #knownPosition = 0;
  #isReading = false;
  #lastReadAt = 0;

  constructor(locationId: string, { sql, log }: { sql: SqlClient; log: Logger }) {
    this.locationId = locationId;
    this.#sql = sql;
    this.#log = log;
  }

  /** The location's log has grown up to this position. */
  receivePosition(position: number): void {
    if (position > this.#knownPosition) this.#knownPosition = position;
    void this.#readNew();
  }

  /** Feeds a reader from now on; false when others are further: there is more in the log for it to catch up with. */
  addLiveConnection(connection: LiveConnection): boolean {
    if (this.#liveConnections.size === 0) this.#position = connection.position;
    if (connection.position < this.#position) return false;
    this.#liveConnections.add(connection);
    void this.#readNew();
    return true;
  }

  removeConnection(connection: LiveConnection): void {
    this.connections.delete(connection);
    this.#liveConnections.delete(connection);
  }

  async #readNew(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#liveConnections.size > 0 && this.#position < this.#knownPosition) {
        const waitMs = this.#lastReadAt + minReadIntervalMs - performance.now();
        if (waitMs > 0) await sleep(waitMs);
        this.#lastReadAt = performance.now();
        const after = this.#position;
        const revisions = await findRevisions(this.#sql, { locationId: this.locationId, after, ...liveBatch });
        if (this.#position !== after) continue;
        const [first] = revisions;
        if (!first) return;
        if (first.position !== after + 1) return this.#markAllBehind();
        this.#position = revisions.at(-1)?.position ?? after;
        this.#sendToAll(revisions);
      }
    } catch (error) {
      this.#log.warn({ err: error, locationId: this.locationId }, "a stream's log cannot be read; trying again soon");
    } finally {
      this.#isReading = false;
    }
  }

  #sendToAll(revisions: Parameters<LiveConnection["sendChanges"]>[0]): void {
    const sharedChunks: SharedChunks = new Map();
    for (const connection of this.#liveConnections) {
      if (connection.output.bufferedBytes > maxBufferedBytes) this.#markBehind(connection);
      else connection.sendChanges(revisions, sharedChunks);
    }
  }

  /** Something is missing between: each reader finds out for itself. */
  #markAllBehind(): void {
    for (const connection of this.#liveConnections) this.#markBehind(connection);
  }

  #markBehind(connection: LiveConnection): void {
    this.#liveConnections.delete(connection);
    connection.markBehind();
  }
}

/** Where a stream begins: after a place in the log, or with the orders as they are. */
export type StreamStart = { after: number } | { reset?: StreamResetReason };

/** Changes, and orders, that are read at a time for one reader, and bytes of them. */
const catchUpBatch = { limit: 50, maxBytes: 256 * 1024 };

/** Where the stream of a reader begins that gives back this event id, or none. */
export async function findStreamStart(
  sql: SqlClient,
  locationId: string,
  lastEventId: string | undefined,
): Promise<StreamStart> {
  if (lastEventId === undefined) return {};
  const position = parseEventId(locationId, lastEventId);
  const { first, last } = await findLogRange(sql, locationId);
  if (position === undefined || position > last) return { reset: "unknown" };
  return position < first ? { reset: "expired" } : { after: position };
}

/**
 * Sends a reader everything until its stream is over: the orders as they are unless it goes on from a place in the log,
 * then the log as fast as it takes it, then, from the channel, what comes; and the log again whenever it lags.
 */
export async function feedConnection(
  connection: LiveConnection,
  start: StreamStart,
  { sql, locationLog }: FeedSource,
): Promise<void> {
  let shownPositions: ShownPositions | undefined;
  if ("after" in start) connection.position = start.after;
  else shownPositions = await sendCurrentOrders(connection, { sql, locationLog }, start.reset);
  while (!connection.output.isClosed) {
    if (!(await sendLoggedChanges(connection, { sql, locationLog }, shownPositions))) {
      shownPositions = await sendCurrentOrders(connection, { sql, locationLog }, "expired");
      continue;
    }
    shownPositions = undefined;
    if (!connection.isReady) connection.write(formatReadyEvent(connection.locationId, connection.position));
    connection.isReady = true;
    if (locationLog.addLiveConnection(connection)) await connection.waitUntilBehind();
  }
}

interface FeedSource {
  sql: SqlClient;
  locationLog: LocationLog;
}

/** The orders that were shown as they are, each with its position in the log then. */
type ShownPositions = Map<string, number>;

/** Sends the orders as they are, page by page. What changes in the meantime is in the log after the reader's position. */
async function sendCurrentOrders(
  connection: LiveConnection,
  { sql, locationLog }: FeedSource,
  reason: StreamResetReason | undefined,
): Promise<ShownPositions> {
  const { locationId, filter, output } = connection;
  const shownPositions: ShownPositions = new Map();
  connection.isReady = false;
  if (reason) connection.write(formatResetEvent(reason));
  connection.position = (await findLogRange(sql, locationId)).last;
  /** Ends before it is waited for the reader, so that no text is kept meanwhile but what the reader was given. */
  const sendPage = async (after: OrderCursor | null): Promise<OrderCursor | null> => {
    const { orders, hasMore } = await findListedOrders(
      sql,
      { locationId, filter },
      { after, offset: 0, ...catchUpBatch },
    );
    for (const { id, position } of orders) shownPositions.set(id, position);
    connection.write(orders.map(({ body }) => formatCurrentOrder(body)).join(""));
    const last = hasMore ? orders.at(-1) : undefined;
    return last ? { at: last.at, id: last.id } : null;
  };
  for (let after: OrderCursor | null = null, isFirst = true; (after || isFirst) && !output.isClosed; isFirst = false) {
    const from: OrderCursor | null = after;
    after = await locationLog.catchUpSemaphore.run(async () => {
      const next = await sendPage(from);
      await output.waitUntilDrained();
      return next;
    });
  }
  return shownPositions;
}

/** Sends the log up to its end, but for changes that were shown already; false when a part of it is gone. */
async function sendLoggedChanges(
  connection: LiveConnection,
  { sql, locationLog }: FeedSource,
  shownPositions: ShownPositions | undefined,
): Promise<boolean> {
  const { locationId, output } = connection;
  const sendBatch = async (): Promise<"more" | "end" | "gap"> => {
    const revisions = await findRevisions(sql, { locationId, after: connection.position, ...catchUpBatch });
    const [first] = revisions;
    if (!first) return "end";
    if (first.position !== connection.position + 1) return "gap";
    connection.sendChanges(revisions.filter(({ orderId, position }) => position > (shownPositions?.get(orderId) ?? 0)));
    connection.position = revisions.at(-1)?.position ?? connection.position;
    return "more";
  };
  while (!output.isClosed) {
    const outcome = await locationLog.catchUpSemaphore.run(async () => {
      const sent = await sendBatch();
      if (sent === "more") await output.waitUntilDrained();
      return sent;
    });
    if (outcome !== "more") return outcome === "end";
  }
  return true;
}
