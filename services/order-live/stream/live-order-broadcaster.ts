import { ApiError } from "@pragma/contracts/errors";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import type { InstanceNotifier } from "@pragma/runtime/messaging/instance-notifier";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { LiveOrderFilter } from "../order-filter.ts";
import { findLiveOrderStreamStart, streamLiveOrderEventsToClient } from "./feed-connection.ts";
import { LiveOrderStreamConnection } from "./live-connection.ts";
import { LiveOrderChangeLogReader } from "./live-order-change-log-reader.ts";
import { reconnectField } from "./stream-events.ts";

export type LiveOrderBroadcaster = ReturnType<typeof createLiveOrderBroadcaster>;

interface OrderStreamRequest {
  locationId: string;
  filter: LiveOrderFilter;
  lastEventId: string | undefined;
  signal: AbortSignal;
}

interface BroadcasterOptions {
  sql: SqlClient;
  notifier: InstanceNotifier;
  log: Logger;
  heartbeatMs: number;
  stallTimeoutMs: number;
}

/** Interval between polls for new stream positions, in milliseconds. Polls replace notifications that were lost. */
const pollMs = 1_000;

/** Returns the broadcaster, which sends changes to all streams of this process. Keeps no data of closed streams. */
export function createLiveOrderBroadcaster({ sql, notifier, log, heartbeatMs, stallTimeoutMs }: BroadcasterOptions) {
  const openStreams = new Admission(locationLimits.liveOrderStreams);
  const logs = new Map<string, LiveOrderChangeLogReader>();
  let timers: NodeJS.Timeout[] = [];
  let isClosed = false;

  function receivePosition(locationId: string, position: number): void {
    logs.get(locationId)?.receivePosition(position);
  }
  notifier.subscribe((locationId, text) => receivePosition(locationId, Number(text)));

  async function pollPositions(): Promise<void> {
    try {
      const streams = await sql<{ locationId: string; position: number }[]>`
        select location_id, position from location_streams where location_id = any(${[...logs.keys()]}::uuid[])`;
      for (const { locationId, position } of streams) receivePosition(locationId, position);
    } catch (error) {
      log.debug({ err: error }, "failed to read stream positions; retrying");
    }
  }

  const allConnections = () => [...logs.values()].flatMap(({ connections }) => [...connections]);

  function addConnection(connection: LiveOrderStreamConnection): LiveOrderChangeLogReader {
    const { locationId } = connection;
    const locationLog = logs.get(locationId) ?? new LiveOrderChangeLogReader(locationId, { sql, log });
    connection.release = openStreams.hold(locationId);
    locationLog.connections.add(connection);
    logs.set(locationId, locationLog);
    if (timers.length === 0) {
      timers = [
        setInterval(() => void pollPositions(), pollMs),
        setInterval(() => {
          for (const connection of allConnections()) connection.sendHeartbeat(stallTimeoutMs);
        }, heartbeatMs),
      ];
    }
    return locationLog;
  }

  function removeConnection(connection: LiveOrderStreamConnection): void {
    const locationLog = logs.get(connection.locationId);
    locationLog?.removeConnection(connection);
    connection.release();
    if (locationLog?.connections.size === 0) logs.delete(connection.locationId);
    if (logs.size > 0) return;
    for (const timer of timers.splice(0)) clearInterval(timer);
  }

  function logEndedStream(connection: LiveOrderStreamConnection): void {
    removeConnection(connection);
    const { locationId, sentCount, closeReason = "disconnected", openedAt } = connection;
    log.info(
      { locationId, sent: sentCount, closeReason, seconds: (performance.now() - openedAt) / 1000 },
      "stream ended",
    );
  }

  return {
    /** Makes every process send a location's changes up to this position to the location's streams. Never throws. */
    notify(locationId: string, position: number): void {
      receivePosition(locationId, position);
      notifier.publish(locationId, String(position));
    },
    /** Opens a stream. @throws `ApiError` too_many_streams, or service_unavailable while the process is stopping. */
    async openStream({ locationId, filter, lastEventId, signal }: OrderStreamRequest) {
      if (isClosed) {
        throw new ApiError("service_unavailable", {
          detail: "This server is shutting down. Retry shortly.",
          headers: { "retry-after": "1" },
        });
      }
      const connection = new LiveOrderStreamConnection(locationId, filter, logEndedStream);
      // The connection is added before the first read, so that it misses no change between this read and the first
      // notification.
      const locationLog = addConnection(connection);
      if (signal.aborted) connection.output.cancel();
      signal.addEventListener("abort", () => connection.output.cancel(), { once: true });
      const start = await findLiveOrderStreamStart(connection, locationLog, lastEventId).catch((error) => {
        removeConnection(connection);
        throw error;
      });
      connection.write(`${reconnectField}\n`);
      streamLiveOrderEventsToClient(connection, start, locationLog).catch((error) => {
        log.warn({ err: error, locationId }, "live stream failed");
        connection.endStream("unavailable");
      });
      return connection.output.body;
    },
    get connectionCount(): number {
      return allConnections().length;
    },
    close(): void {
      isClosed = true;
      for (const connection of allConnections()) connection.endStream("shutdown");
    },
  };
}
