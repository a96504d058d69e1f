import { ApiError } from "@pragma/contracts/errors";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import type { InstanceNotifier } from "@pragma/runtime/messaging/event-bus";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { OrderFilter } from "../order-filter.ts";
import { findStreamPositions } from "../queries/streams.ts";
import { LiveConnection, streamPreamble } from "./live-connection.ts";
import { feedConnection, findStreamStart, LocationLog } from "./location-log.ts";

export type OrderBroadcaster = ReturnType<typeof createOrderBroadcaster>;

interface OrderStreamRequest {
  locationId: string;
  filter: OrderFilter;
  lastEventId: string | undefined;
  /** Given when the reader goes away. */
  signal: AbortSignal;
}

interface OrderBroadcasterOptions {
  sql: SqlClient;
  notifier: InstanceNotifier;
  log: Logger;
  /** Milliseconds. */
  heartbeatMs: number;
  stallTimeoutMs: number;
}

/** Streams of one location that one process serves at most. */
const maxConnectionsPerLocation = 500;
/** How often it is asked whether something came that no signal told of, in milliseconds. */
const pollMs = 1_000;

/** Feeds every stream of this process. Nothing is kept of one that is over, nor of a location that nobody reads. */
export function createOrderBroadcaster({ sql, notifier, log, heartbeatMs, stallTimeoutMs }: OrderBroadcasterOptions) {
  const logs = new Map<string, LocationLog>();
  let timers: NodeJS.Timeout[] = [];
  let isClosed = false;

  function receivePosition(locationId: string, position: number): void {
    logs.get(locationId)?.receivePosition(position);
  }
  notifier.subscribe((locationId, text) => receivePosition(locationId, Number(text)));

  async function pollPositions(): Promise<void> {
    try {
      for (const { locationId, position } of await findStreamPositions(sql, [...logs.keys()]))
        receivePosition(locationId, position);
    } catch (error) {
      log.debug({ err: error }, "the positions of streams cannot be read; trying again in a moment");
    }
  }

  const allConnections = () => [...logs.values()].flatMap(({ connections }) => [...connections]);

  function addConnection(connection: LiveConnection): LocationLog {
    const { locationId } = connection;
    const locationLog = logs.get(locationId) ?? new LocationLog(locationId, { sql, log });
    if (locationLog.connections.size >= maxConnectionsPerLocation) {
      throw new ApiError("too_many_streams", {
        detail: `This location has ${maxConnectionsPerLocation} open streams already. Close those that nobody reads.`,
        headers: { "retry-after": "10" },
      });
    }
    locationLog.connections.add(connection);
    logs.set(locationId, locationLog);
    if (timers.length === 0) {
      timers = [
        setInterval(() => void pollPositions(), pollMs),
        setInterval(() => {
          for (const each of allConnections()) each.sendHeartbeat(stallTimeoutMs);
        }, heartbeatMs),
      ];
    }
    return locationLog;
  }

  function removeConnection(connection: LiveConnection): void {
    const locationLog = logs.get(connection.locationId);
    locationLog?.removeConnection(connection);
    if (locationLog?.connections.size === 0) logs.delete(connection.locationId);
    if (logs.size > 0) return;
    for (const timer of timers.splice(0)) clearInterval(timer);
  }

  function logEndedStream(connection: LiveConnection): void {
    removeConnection(connection);
    const { locationId, sentCount, closeReason = "gone", openedAt } = connection;
    log.info(
      { locationId, sent: sentCount, closedFor: closeReason, seconds: (performance.now() - openedAt) / 1000 },
      "stream ended",
    );
  }

  return {
    /** The log of a location has grown up to this position: its readers are sent what is new, in every process. Never throws. */
    notify(locationId: string, position: number): void {
      receivePosition(locationId, position);
      notifier.publish(locationId, String(position));
    },
    /**
     * Opens a stream: of what comes after an event id, or from the orders as they are.
     *
     * @throws `ApiError` too_many_streams, or service_unavailable when the process is stopping.
     */
    async openStream({
      locationId,
      filter,
      lastEventId,
      signal,
    }: OrderStreamRequest): Promise<ReadableStream<Uint8Array>> {
      if (isClosed) {
        throw new ApiError("service_unavailable", {
          detail: "This server is about to stop. Ask again in a moment.",
          headers: { "retry-after": "1" },
        });
      }
      const connection = new LiveConnection({ locationId, filter, onClosed: logEndedStream });
      // From here on it is heard what comes, so that nothing slips in between what is read and what is told.
      const locationLog = addConnection(connection);
      const start = await findStreamStart(sql, locationId, lastEventId).catch((error) => {
        removeConnection(connection);
        throw error;
      });
      if (signal.aborted) connection.output.cancel();
      signal.addEventListener("abort", () => connection.output.cancel(), { once: true });
      connection.write(streamPreamble);
      feedConnection(connection, start, { sql, locationLog }).catch((error) => {
        log.warn({ err: error, locationId }, "a stream cannot go on");
        connection.endStream("unavailable");
      });
      return connection.output.body;
    },
    get connectionCount(): number {
      return allConnections().length;
    },
    /** Ends every stream, and opens no more. */
    close(): void {
      isClosed = true;
      for (const reader of allConnections()) reader.endStream("shutdown");
    },
  };
}
