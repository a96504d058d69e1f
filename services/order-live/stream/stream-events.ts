import type { OrderLeftEvent } from "@pragma/contracts/order-live";
import { type LiveOrderFilter, matchesOrderFilter } from "../order-filter.ts";
import type { LiveOrderRevision } from "../queries/streams.ts";

/** The events of a live order stream in the text/event-stream format. */

/** How soon a client should reconnect, in milliseconds. */
const reconnectMs = 1_000;

export const liveOrderStreamPreamble = `retry: ${reconnectMs}\n\n`;

/** Why a stream cannot resume after an event id: the log entries after it were removed, or the id is unknown. */
export type StreamResetReason = "expired" | "unknown";

/** Why the server ends a stream. */
export type StreamCloseReason = "shutdown" | "slow" | "unavailable";

function formatStreamEvent(event: string, data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** Returns the event id of a position in a location's stream. A client sends this id to resume the stream. */
export function formatStreamEventId(locationId: string, position: number): string {
  return `${locationId}:${position}`;
}

/** Returns the position in an event id; undefined if the id is malformed or belongs to another location's stream. */
export function parseEventId(locationId: string, id: string): number | undefined {
  const [, eventLocationId, position] = /^([0-9a-f-]{36}):(\d{1,15})$/i.exec(id) ?? [];
  return eventLocationId?.toLowerCase() === locationId ? Number(position) : undefined;
}

/** Formats an order of the initial list. It has no id, because a stream that is interrupted here must restart. */
export const formatCurrentOrderEvent = (body: string) => formatStreamEvent("order", body);

/** Formats the event that invalidates all earlier events. Its empty id clears the client's last event id. */
export const formatResetEvent = (reason: StreamResetReason) =>
  formatStreamEvent("reset", JSON.stringify({ reason }), "");

/** Formats the event that ends the initial list. */
export const formatReadyEvent = (locationId: string, position: number) =>
  formatStreamEvent("ready", "{}", formatStreamEventId(locationId, position));

/** Formats a heartbeat. An id moves the client past changes that its filter excludes. */
export const formatStreamHeartbeat = (id?: string) => `: heartbeat\n${id === undefined ? "" : `id: ${id}\n`}\n`;

export const formatStreamClosedEvent = (reason: StreamCloseReason) =>
  `retry: ${reconnectMs}\n${formatStreamEvent("closed", JSON.stringify({ reason }))}`;

/** Formats a change for a stream with this filter, as an `order` event, a `left` event, or an empty string. */
export function formatChangeEvent(locationId: string, revision: LiveOrderRevision, filter: LiveOrderFilter): string {
  const { orderId, before, after, body, position } = revision;
  const id = formatStreamEventId(locationId, position);
  if (matchesOrderFilter(filter, after)) return formatStreamEvent("order", body, id);
  if (!matchesOrderFilter(filter, before)) return "";
  if (!after) return formatStreamEvent("left", body, id);
  const left: OrderLeftEvent = { id: orderId, locationId, tillId: after.tillId, reason: "filter" };
  return formatStreamEvent("left", JSON.stringify(left), id);
}
