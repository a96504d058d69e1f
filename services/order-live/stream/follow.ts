import type { Sql } from "@pragma/runtime/postgres";
import { findListed, type OrderPlace } from "../queries/lists.ts";
import { findExtent, findRevisions } from "../queries/streams.ts";
import type { Channel } from "./channel.ts";
import { currentOrder, positionIn, type ResetReason, ready, reset } from "./messages.ts";
import type { StreamReader } from "./reader.ts";

/** Where a stream begins: after a place in the log, or with the orders as they are. */
export type Start = { after: number } | { reset?: ResetReason };

/** Changes, and orders, that are read at a time for one reader, and bytes of them. */
const batch = { limit: 50, maxBytes: 256 * 1024 };

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
    const { orders, hasMore } = await findListed(sql, { locationId, filter }, { after, offset: 0, ...batch });
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
    const revisions = await findRevisions(sql, { locationId, after: reader.position, ...batch });
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
