import type { OrderLeftStreamEventData } from "@pragma/contracts/order-live";
import { type LiveOrderFilter, matchesLiveOrderFilter } from "../order-filter.ts";
import type { LiveOrderChangeLogEntry } from "../queries/streams.ts";

/** The field with the milliseconds after which a client reconnects to an interrupted stream. */
export const reconnectField = "retry: 1000\n";

/** Why a stream cannot resume after an event id: the log entries after it were removed, or the id is unknown. */
export type LiveOrderStreamResetReason = "expired" | "unknown";

export type LiveOrderStreamCloseReason = "shutdown" | "slow" | "unavailable";

export function formatStreamEvent(event: string, data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** Returns the event id of a position in a location's stream. A client sends this id to resume the stream. */
export function formatOrderStreamEventId(locationId: string, position: number): string {
  return `${locationId}:${position}`;
}

/** Returns the position in an event id; undefined if the id is malformed or belongs to another location's stream. */
export function parseOrderStreamEventId(locationId: string, id: string): number | undefined {
  const [, eventLocationId, position] = /^([0-9a-f-]{36}):(\d{1,15})$/i.exec(id) ?? [];
  return eventLocationId?.toLowerCase() === locationId ? Number(position) : undefined;
}

/** Formats a change as an `order` or `left` event, or as an empty string if the stream's filter excludes the change. */
export function formatLiveOrderChangeEvent(
  locationId: string,
  revision: LiveOrderChangeLogEntry,
  filter: LiveOrderFilter,
): string {
  const { orderId, before, after, body, position } = revision;
  const id = formatOrderStreamEventId(locationId, position);
  if (matchesLiveOrderFilter(filter, after)) return formatStreamEvent("order", body, id);
  if (!matchesLiveOrderFilter(filter, before)) return "";
  if (!after) return formatStreamEvent("left", body, id);
  const left: OrderLeftStreamEventData = { id: orderId, locationId, tillId: after.tillId, reason: "filter" };
  return formatStreamEvent("left", JSON.stringify(left), id);
}
