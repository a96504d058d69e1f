import { setTimeout as sleep } from "node:timers/promises";
import { Admission } from "@pragma/runtime/admission/admission";
import { computePauseMs, recordSender } from "@pragma/runtime/admission/contention";
import { locationLimits } from "@pragma/runtime/admission/limits";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import type { Logger } from "@pragma/runtime/observability/logger";
import { findLiveOrderChangeLogEntries, type LiveOrderChangeLogEntry } from "../queries/streams.ts";
import type { EncodedOrderChangesByFilter, LiveOrderStreamConnection } from "./live-connection.ts";

/** Maximum number and maximum total bytes of the changes that one read of the log returns. */
const liveBatch = { limit: 100, maxBytes: 256 * 1024 };
/** Maximum bytes buffered for a connection. A connection that exceeds it must catch up from the log. */
const maxBufferedBytes = 256 * 1024;
/** Minimum milliseconds between two reads of a log. Changes between two reads are sent together, which is cheaper. */
const minReadIntervalMs = 20;

/** Reads the change log of one location once for all connections of this process that have caught up. */
export class LiveOrderChangeLogReader {
  readonly locationId: string;
  readonly sql: SqlClient;
  /** All connections of the location, including those that are catching up. */
  readonly connections = new Set<LiveOrderStreamConnection>();
  /** A connection holds a permit from the read of a catch-up batch until the client has read the batch. */
  readonly catchUps = new Admission(locationLimits.streamBatches);
  readonly #reads = new Admission(locationLimits.streamReads);
  readonly #log: Logger;
  readonly #liveConnections = new Set<LiveOrderStreamConnection>();
  #position = 0;
  /** The highest log position that this process has learned from a notification or a poll. */
  #knownPosition = 0;
  #isReading = false;
  #lastReadAt = 0;

  constructor(locationId: string, { sql, log }: { sql: SqlClient; log: Logger }) {
    this.locationId = locationId;
    this.sql = sql;
    this.#log = log;
  }

  /** Starts to read the log up to this position, unless it has already been read or no connection has caught up. */
  receivePosition(position: number): void {
    if (position > this.#knownPosition) this.#knownPosition = position;
    void this.#readNew();
  }

  /** Starts to send new changes to a connection. Returns false if the connection must first catch up from the log. */
  addLiveConnection(connection: LiveOrderStreamConnection): boolean {
    if (this.#liveConnections.size === 0) this.#position = connection.position;
    if (connection.position < this.#position) return false;
    this.#liveConnections.add(connection);
    void this.#readNew();
    return true;
  }

  /**
   * Runs `read` when it is the connection's turn, with a pause afterwards if the event loop is busy; not if the client
   * has left.
   */
  async readForConnection<T>({ output }: LiveOrderStreamConnection, read: () => Promise<T>): Promise<T | undefined> {
    const permit = await this.#reads.acquire();
    if (output.isClosed) return void permit.release();
    const startedAtMs = performance.now();
    recordSender(this.locationId);
    try {
      return await read();
    } finally {
      permit.release(computePauseMs(this.locationId, startedAtMs));
    }
  }

  removeConnection(connection: LiveOrderStreamConnection): void {
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
        const range = { locationId: this.locationId, after, ...liveBatch };
        const revisions = await findLiveOrderChangeLogEntries(this.sql, range);
        if (this.#position !== after) continue;
        const [first] = revisions;
        if (!first) return;
        if (first.position !== after + 1) {
          // After a gap in the log, each connection catches up from the log, or restarts with the current orders.
          for (const connection of this.#liveConnections) this.#markBehind(connection);
          return;
        }
        this.#position = revisions.at(-1)?.position ?? after;
        this.#sendToAll(revisions);
      }
    } catch (error) {
      this.#log.warn({ err: error, locationId: this.locationId }, "failed to read the change log; retrying");
    } finally {
      this.#isReading = false;
    }
  }

  #sendToAll(revisions: LiveOrderChangeLogEntry[]): void {
    const sharedChunks: EncodedOrderChangesByFilter = new Map();
    for (const connection of this.#liveConnections) {
      if (connection.output.bufferedBytes > maxBufferedBytes) this.#markBehind(connection);
      else connection.sendChanges(revisions, sharedChunks);
    }
  }

  #markBehind(connection: LiveOrderStreamConnection): void {
    this.#liveConnections.delete(connection);
    connection.markBehind();
  }
}
