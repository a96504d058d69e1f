import { findLiveOrderPage, type LiveOrderListCursor } from "../queries/listed-orders.ts";
import { findLiveOrderChangeLogEntries } from "../queries/streams.ts";
import type { LiveOrderStreamConnection } from "./live-connection.ts";
import type { LiveOrderChangeLogReader } from "./live-order-change-log-reader.ts";
import {
  formatOrderStreamEventId,
  formatStreamEvent,
  type LiveOrderStreamResetReason,
  parseOrderStreamEventId,
} from "./stream-events.ts";

/** How a stream starts: after a position in the log, or with the current orders (after a reset event if required). */
type LiveOrderStreamStartPoint = { after: number } | { reset?: LiveOrderStreamResetReason };

/** Maximum number and maximum total bytes of the changes or orders that one read for a connection returns. */
const catchUpBatch = { limit: 50, maxBytes: 256 * 1024 };

/** Returns how a client's stream starts. The start depends on the last event id that the client has sent, if any. */
export async function findLiveOrderStreamStart(
  connection: LiveOrderStreamConnection,
  locationLog: LiveOrderChangeLogReader,
  lastEventId: string | undefined,
): Promise<LiveOrderStreamStartPoint> {
  if (lastEventId === undefined) return {};
  const { locationId } = connection;
  const position = parseOrderStreamEventId(locationId, lastEventId);
  const range = await readLogRange(connection, locationLog);
  if (!range) return {};
  const { first, last } = range;
  if (position === undefined || position > last) return { reset: "unknown" };
  return position < first ? { reset: "expired" } : { after: position };
}

/**
 * Sends events to a connection until its stream ends: the current orders, unless the stream resumes from the log, then
 * the log as fast as the client reads, and then new changes together with other connections, until it falls behind.
 */
export async function streamLiveOrderEventsToClient(
  connection: LiveOrderStreamConnection,
  start: LiveOrderStreamStartPoint,
  locationLog: LiveOrderChangeLogReader,
): Promise<void> {
  let sentPositions: SentPositions | undefined;
  if ("after" in start) connection.position = start.after;
  else sentPositions = await sendCurrentOrders(connection, locationLog, start.reset);
  while (!connection.output.isClosed) {
    if (!(await sendLoggedChanges(connection, locationLog, sentPositions))) {
      sentPositions = await sendCurrentOrders(connection, locationLog, "expired");
      continue;
    }
    sentPositions = undefined;
    const id = formatOrderStreamEventId(connection.locationId, connection.position);
    if (!connection.isReady) connection.write(formatStreamEvent("ready", "{}", id));
    connection.isReady = true;
    if (locationLog.addLiveConnection(connection)) await connection.waitUntilBehind();
  }
}

/** Returns the last position of a location's stream, and the first position from which a stream can be resumed. */
const readLogRange = (connection: LiveOrderStreamConnection, locationLog: LiveOrderChangeLogReader) =>
  locationLog.readForConnection(connection, async () => {
    const { sql, locationId } = locationLog;
    const [row] = await sql<{ first: number; last: number }[]>`
      select position as last, coalesce(
        (select min(position) - 1 from order_revisions where location_id = ${locationId}), position
      ) as first
      from location_streams where location_id = ${locationId}`;
    return row ?? { first: 0, last: 0 };
  });

/** The log positions of the order states that the stream has sent initially, by order id. */
type SentPositions = Map<string, number>;

/** Sends the current orders page by page. Changes that occur in the meantime are sent later, from the log. */
async function sendCurrentOrders(
  connection: LiveOrderStreamConnection,
  locationLog: LiveOrderChangeLogReader,
  reason: LiveOrderStreamResetReason | undefined,
): Promise<SentPositions> {
  const { locationId, filter, output } = connection;
  const sentPositions: SentPositions = new Map();
  connection.isReady = false;
  // The empty id clears the client's last event id, because a stream cannot resume among the initial orders.
  if (reason) connection.write(formatStreamEvent("reset", JSON.stringify({ reason }), ""));
  const range = await readLogRange(connection, locationLog);
  if (!range) return sentPositions;
  connection.position = range.last;
  /** A separate function, so that the page's text can be garbage-collected while the client reads. */
  const sendPage = async (after: LiveOrderListCursor | null): Promise<LiveOrderListCursor | null> => {
    const range = { after, offset: 0, ...catchUpBatch };
    const { orders, last } = await findLiveOrderPage(locationLog.sql, { locationId, filter }, range);
    for (const { id, position } of orders) sentPositions.set(id, position);
    connection.write(orders.map(({ body }) => formatStreamEvent("order", body)).join(""));
    return last;
  };
  let after: LiveOrderListCursor | null = null;
  do {
    const cursor: LiveOrderListCursor | null = after;
    after = await locationLog.catchUps.run(async (): Promise<LiveOrderListCursor | null> => {
      const next = await locationLog.readForConnection(connection, () => sendPage(cursor));
      await output.waitUntilDrained();
      return next ?? null;
    });
  } while (after && !output.isClosed);
  return sentPositions;
}

/** Sends the log up to its end, except changes that were already sent. Returns false if log entries are missing. */
async function sendLoggedChanges(
  connection: LiveOrderStreamConnection,
  locationLog: LiveOrderChangeLogReader,
  sentPositions: SentPositions | undefined,
): Promise<boolean> {
  const { locationId, output } = connection;
  const sendBatch = async (): Promise<"more" | "end" | "gap"> => {
    const range = { locationId, after: connection.position, ...catchUpBatch };
    const revisions = await findLiveOrderChangeLogEntries(locationLog.sql, range);
    const [first] = revisions;
    if (!first) return "end";
    if (first.position !== connection.position + 1) return "gap";
    connection.sendChanges(revisions.filter(({ orderId, position }) => position > (sentPositions?.get(orderId) ?? 0)));
    connection.position = revisions.at(-1)?.position ?? connection.position;
    return "more";
  };
  while (!output.isClosed) {
    const outcome = await locationLog.catchUps.run(async () => {
      const batchOutcome = await locationLog.readForConnection(connection, sendBatch);
      if (batchOutcome === "more") await output.waitUntilDrained();
      return batchOutcome ?? "end";
    });
    if (outcome !== "more") return outcome === "end";
  }
  return true;
}
