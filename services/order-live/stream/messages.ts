import type { OrderLeft } from "@pragma/contracts/order-live";
import { type OrderFilter, passes } from "../order-filter.ts";
import type { Revision } from "../queries/streams.ts";

/** What a stream says, in the text/event-stream format. */

/** How soon a reader should come back that lost its stream, in milliseconds. */
const comeBackAfter = 1_000;

export const opening = `retry: ${comeBackAfter}\n\n`;

/** Why a stream does not go on from where its reader stopped: too long ago, or never a place in this stream. */
export type ResetReason = "expired" | "unknown";

/** Why a stream ends, other than that its reader goes away. */
export type CloseReason = "shutdown" | "slow" | "unavailable";

function message(event: string, data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** A place in a location's stream, as a reader gives it back to go on from there. */
export function eventId(locationId: string, position: number): string {
  return `${locationId}:${position}`;
}

/** The position in a location's stream that an event id names; undefined when it is of another stream, or none. */
export function positionIn(locationId: string, id: string): number | undefined {
  const [, of, position] = /^([0-9a-f-]{36}):(\d{1,15})$/i.exec(id) ?? [];
  return of?.toLowerCase() === locationId ? Number(position) : undefined;
}

/** The order as it is when the stream begins. Without an id: a stream that breaks off here has to begin anew. */
export const currentOrder = (body: string) => message("order", body);

/** Everything before it is to be forgotten. Its empty id takes the reader's own away. */
export const reset = (reason: ResetReason) => message("reset", JSON.stringify({ reason }), "");

/** From here on there is what changes. */
export const ready = (locationId: string, position: number) => message("ready", "{}", eventId(locationId, position));

/** Shows that the stream is alive; brings the reader's place forward when what it went past was not for this reader. */
export const heartbeat = (id?: string) => `: heartbeat\n${id === undefined ? "" : `id: ${id}\n`}\n`;

export const closed = (reason: CloseReason) =>
  `retry: ${comeBackAfter}\n${message("closed", JSON.stringify({ reason }))}`;

/** What a change is to whoever reads through this filter: an order, that one left, or nothing (an empty text). */
export function changeMessage(locationId: string, revision: Revision, filter: OrderFilter): string {
  const { orderId, before, after, body, position } = revision;
  const id = eventId(locationId, position);
  if (passes(filter, after)) return message("order", body, id);
  if (!passes(filter, before)) return "";
  if (!after) return message("left", body, id);
  const left: OrderLeft = { id: orderId, locationId, tillId: after.tillId, reason: "filter" };
  return message("left", JSON.stringify(left), id);
}
