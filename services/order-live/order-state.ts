import { createHash } from "node:crypto";
import { isUtcBefore } from "@pragma/contracts/date-time";
import type { BusEventType } from "@pragma/contracts/events";
import type { PosOrderData } from "@pragma/contracts/order-data";
import type { SkippedLiveOrderReason } from "@pragma/contracts/order-live";

/** The fields by which lists and streams can be filtered. */
export interface LiveOrderFilterFields {
  tillId: string;
  isPaid: boolean;
  isTransferred: boolean;
  isCanceled: boolean;
}

/** Whether and how an order was closed. */
export interface OrderClosingFlags extends Pick<LiveOrderFilterFields, "isPaid" | "isTransferred" | "isCanceled"> {
  /** Whether the order was closed with a total of zero or less. */
  isManuallyClosed: boolean;
}

export interface StoredLiveOrderState extends LiveOrderFilterFields, OrderClosingFlags {
  revisionHash: string | null;
  /** The latest `modifiedAt` that the point of sale has sent for the order; null if it never sent this field. */
  modifiedAt: string | null;
  isTraining: boolean;
  itemsHash: string | null;
  /** Sequence number of the order's last event; 0 before the first event. */
  sequence: number;
  /** Position of the order's last entry in the location's stream, before its departure; 0 without such an entry. */
  position: number;
  createdAt: Date;
  hasDeparted: boolean;
  /** When the till whose report contains the order was closed; null if no report contains the order. */
  closedAt: string | null;
}

export type OrderEventType = Extract<BusEventType, `order.${string}`>;

/** The fields of an upserted order that decide whether the order is skipped and which event it publishes. */
export interface IncomingLiveOrderState extends OrderClosingFlags {
  tillId: string;
  revisionHash: string;
  modifiedAt: string | null;
  itemsHash: string;
}

/**
 * Returns why the upsert of an order is skipped, if it is. A departed order becomes live again only with another till.
 * If the report of its earlier till contains it, it must also have been modified after that till was closed.
 */
export function findSkipReason(
  incoming: IncomingLiveOrderState,
  stored: StoredLiveOrderState | undefined,
  { finalTills }: { finalTills: ReadonlySet<string> },
): SkippedLiveOrderReason | undefined {
  if (finalTills.has(incoming.tillId)) return "till_closed";
  if (!stored) return undefined;
  if (stored.hasDeparted) {
    if (incoming.tillId === stored.tillId) return "till_closed";
    const { modifiedAt } = incoming;
    const isChangedAfterClosing =
      modifiedAt !== null && stored.closedAt !== null && isUtcBefore(stored.closedAt, modifiedAt);
    return stored.closedAt === null || isChangedAfterClosing ? undefined : "in_report";
  }
  if (incoming.revisionHash === stored.revisionHash) return "unchanged";
  const isOlder =
    incoming.modifiedAt !== null && stored.modifiedAt !== null && isUtcBefore(incoming.modifiedAt, stored.modifiedAt);
  return isOlder ? "outdated" : undefined;
}

/** How far the clock of a point of sale can be ahead of the server's clock before its times are replaced. */
const maxClockLeadMs = 5 * 60 * 1000;

/** Returns a time, or `now` if it is over five minutes ahead: all later updates would look outdated. */
export function replaceFutureTime(time: string, now: string): string {
  return isUtcBefore(new Date(Date.parse(now) + maxClockLeadMs).toISOString(), time) ? now : time;
}

/** Returns the later of two times. If one time is null, returns the other time. */
export function getLaterTime(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return isUtcBefore(one, other) ? other : one;
}

/** Returns the event of a change. An open order publishes `order.call` if it is new, reopened or has other items. */
export function determineOrderEventType(
  before: (OrderClosingFlags & Pick<StoredLiveOrderState, "itemsHash">) | undefined,
  after: OrderClosingFlags & Pick<StoredLiveOrderState, "itemsHash">,
): OrderEventType | undefined {
  if (after.isCanceled && !before?.isCanceled) return "order.canceled";
  if (after.isTransferred && !before?.isTransferred) return "order.transferred";
  if (after.isPaid && !before?.isPaid) return "order.paid";
  if (isClosed(after)) return undefined;
  return !before || isClosed(before) || before.itemsHash !== after.itemsHash ? "order.call" : undefined;
}

function isClosed({ isPaid, isCanceled, isTransferred, isManuallyClosed }: OrderClosingFlags): boolean {
  return isPaid || isCanceled || isTransferred || isManuallyClosed;
}

/** Returns the filter fields of a listed order; null for an order that lists omit (in training mode or departed). */
export function getFilterFieldsOfListedOrder(
  order: (LiveOrderFilterFields & { isTraining: boolean; hasDeparted?: boolean }) | undefined,
): LiveOrderFilterFields | null {
  if (!order || order.isTraining || order.hasDeparted) return null;
  const { tillId, isPaid, isTransferred, isCanceled } = order;
  return { tillId, isPaid, isTransferred, isCanceled };
}

/** Returns a hash of an order's products and menus that does not depend on their sequence. */
export function computeOrderItemsHash({ productRowList, menuRowList }: PosOrderData): string {
  const rows = [...productRowList, ...menuRowList].map((row) => JSON.stringify(row)).sort();
  return createHash("sha256").update(rows.join("\n")).digest("base64url");
}
