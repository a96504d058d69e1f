import type { SqlClient } from "@pragma/runtime/database/postgres";
import { findLiveOrderPage, type LiveOrderListCursor } from "../queries/listed-orders.ts";
import { findLiveOrderChangeLogEntries, findLiveOrderLogRange } from "../queries/streams.ts";
import type { LiveOrderStreamConnection } from "./live-connection.ts";
import type { LiveOrderChangeLogReader } from "./live-order-change-log-reader.ts";
import {
  formatInitialLiveOrderEvent,
  formatOrderStreamReadyEvent,
  formatOrderStreamResetEvent,
  type LiveOrderStreamResetReason,
  parseOrderStreamEventId,
} from "./stream-events.ts";

/** How a stream starts: after a position in the log, or with the current orders (after a reset event if required). */
export type LiveOrderStreamStartPoint = { after: number } | { reset?: LiveOrderStreamResetReason };

/** Maximum number and maximum total bytes of the changes or orders that one read for a connection returns. */
const catchUpBatch = { limit: 50, maxBytes: 256 * 1024 };

/** Returns how a client's stream starts. The start depends on the last event id that the client has sent, if any. */
export async function findLiveOrderStreamStart(
  connection: LiveOrderStreamConnection,
  { sql, locationLog }: FeedSource,
  lastEventId: string | undefined,
): Promise<LiveOrderStreamStartPoint> {
  if (lastEventId === undefined) return {};
  const { locationId } = connection;
  const position = parseOrderStreamEventId(locationId, lastEventId);
  const range = await locationLog.readForConnection(connection, () => findLiveOrderLogRange(sql, locationId));
  if (!range) return {};
  const { first, last } = range;
  if (position === undefined || position > last) return { reset: "unknown" };
  return position < first ? { reset: "expired" } : { after: position };
}

/**
 * Sends events to a connection until its stream ends. First sends the current orders, unless the stream resumes from
 * the log. Then sends the log as fast as the client reads. At the end of the log, the connection receives new changes
 * together with other connections. A connection that falls behind reads the log on its own again.
 */
export async function streamLiveOrderEventsToClient(
  connection: LiveOrderStreamConnection,
  start: LiveOrderStreamStartPoint,
  source: FeedSource,
): Promise<void> {
  let sentPositions: SentPositions | undefined;
  if ("after" in start) connection.position = start.after;
  else sentPositions = await sendCurrentOrders(connection, source, start.reset);
  while (!connection.output.isClosed) {
    if (!(await sendLoggedChanges(connection, source, sentPositions))) {
      sentPositions = await sendCurrentOrders(connection, source, "expired");
      continue;
    }
    sentPositions = undefined;
    if (!connection.isReady) connection.write(formatOrderStreamReadyEvent(connection.locationId, connection.position));
    connection.isReady = true;
    if (source.locationLog.addLiveConnection(connection)) await connection.waitUntilBehind();
  }
}

interface FeedSource {
  sql: SqlClient;
  locationLog: LiveOrderChangeLogReader;
}

/** The log positions of the order states that the stream has sent initially, by order id. */
type SentPositions = Map<string, number>;

/** Sends the current orders page by page. Changes that occur in the meantime are sent later, from the log. */
async function sendCurrentOrders(
  connection: LiveOrderStreamConnection,
  { sql, locationLog }: FeedSource,
  reason: LiveOrderStreamResetReason | undefined,
): Promise<SentPositions> {
  const { locationId, filter, output } = connection;
  const sentPositions: SentPositions = new Map();
  connection.isReady = false;
  if (reason) connection.write(formatOrderStreamResetEvent(reason));
  const range = await locationLog.readForConnection(connection, () => findLiveOrderLogRange(sql, locationId));
  if (!range) return sentPositions;
  connection.position = range.last;
  /** A separate function, so that the page's text can be garbage-collected while the client reads. */
  const sendPage = async (after: LiveOrderListCursor | null): Promise<LiveOrderListCursor | null> => {
    const page = await findLiveOrderPage(sql, { locationId, filter }, { after, offset: 0, ...catchUpBatch });
    for (const { id, position } of page.orders) sentPositions.set(id, position);
    connection.write(page.orders.map(({ body }) => formatInitialLiveOrderEvent(body)).join(""));
    const last = page.hasMore ? page.orders.at(-1) : undefined;
    return last ? { at: last.at, id: last.id } : null;
  };
  for (
    let after: LiveOrderListCursor | null = null, isFirst = true;
    (after || isFirst) && !output.isClosed;
    isFirst = false
  ) {
    const cursor: LiveOrderListCursor | null = after;
    after = await locationLog.catchUps.run(async () => {
      const next: LiveOrderListCursor | null | undefined = await locationLog.readForConnection(connection, () =>
        sendPage(cursor),
      );
      await output.waitUntilDrained();
      return next ?? null;
    });
  }
  return sentPositions;
}

/** Sends the log up to its end, except changes that were already sent. Returns false if log entries are missing. */
async function sendLoggedChanges(
  connection: LiveOrderStreamConnection,
  { sql, locationLog }: FeedSource,
  sentPositions: SentPositions | undefined,
): Promise<boolean> {
  const { locationId, output } = connection;
  const sendBatch = async (): Promise<"more" | "end" | "gap"> => {
    const revisions = await findLiveOrderChangeLogEntries(sql, {
      locationId,
      after: connection.position,
      ...catchUpBatch,
    });
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
