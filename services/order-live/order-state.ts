import { createHash } from "node:crypto";
import { isUtcBefore } from "@pragma/contracts/date-time";
import type { EventType } from "@pragma/contracts/events";
import type { OrderData } from "@pragma/contracts/order-data";

/** What filters of lists and streams go by. */
export interface OrderFilterFields {
  tillId: string;
  isPaid: boolean;
  isTransferred: boolean;
  isCanceled: boolean;
}

/** Whether and how an order is over. */
export interface OrderClosingFlags extends Pick<OrderFilterFields, "isPaid" | "isTransferred" | "isCanceled"> {
  /** Closed with a total of zero or less. */
  isManuallyClosed: boolean;
}

/** What is known of an order, apart from its content. */
export interface OrderState extends OrderFilterFields, OrderClosingFlags {
  revisionHash: string | null;
  /** The latest that the point of sale gave; null when it gave none. */
  modifiedAt: string | null;
  isTraining: boolean;
  /** Stands for the order's products and menus. */
  rowsHash: string | null;
  /** Of its last event; 0 before the first. */
  sequence: number;
  /** Of its last entry in the stream. */
  position: number;
  createdAt: string;
  hasLeft: boolean;
  /** When the till was closed that holds the order. */
  closedAt: string | null;
}

export type OrderEventType = Extract<EventType, `order.${string}`>;

/** An order as an upsert brings it, reduced to what decides whether it is taken. */
export interface IncomingOrderState extends OrderClosingFlags {
  tillId: string;
  revisionHash: string;
  modifiedAt: string | null;
  rowsHash: string;
}

/**
 * Whether an upsert changes nothing: it is of a till whose report is final, it is the revision that is known, or it is
 * older than that. A departed order comes back only under another till, and, when its own till holds it, only by a
 * change later than that till's close.
 */
export function shouldSkipUpsert(
  incoming: IncomingOrderState,
  stored: OrderState | undefined,
  finalTills: ReadonlySet<string>,
): boolean {
  if (finalTills.has(incoming.tillId)) return true;
  if (!stored) return false;
  if (stored.hasLeft)
    return incoming.tillId === stored.tillId || wasClosedBeforeChange(stored.closedAt, incoming.modifiedAt);
  return incoming.revisionHash === stored.revisionHash || isOlder(incoming.modifiedAt, stored.modifiedAt);
}

function wasClosedBeforeChange(closedAt: string | null, modifiedAt: string | null): boolean {
  return closedAt !== null && (modifiedAt === null || !isUtcBefore(closedAt, modifiedAt));
}

function isOlder(modifiedAt: string | null, known: string | null): boolean {
  return modifiedAt !== null && known !== null && isUtcBefore(modifiedAt, known);
}

/** The later of two times, either of which may be unknown. */
export function laterTime(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return isUtcBefore(one, other) ? other : one;
}

/**
 * The one event that a change gives rise to, if any: `order.canceled` when the order becomes canceled, else
 * `order.transferred` when it becomes transferred, else `order.paid` when it becomes paid. An order that is open gives
 * `order.call` when it is new, was closed before, or has other products or menus than before; payments do not count.
 */
export function determineOrderEvent(
  before: (OrderClosingFlags & Pick<OrderState, "rowsHash">) | undefined,
  after: OrderClosingFlags & Pick<OrderState, "rowsHash">,
): OrderEventType | undefined {
  if (after.isCanceled && !before?.isCanceled) return "order.canceled";
  if (after.isTransferred && !before?.isTransferred) return "order.transferred";
  if (after.isPaid && !before?.isPaid) return "order.paid";
  if (isClosed(after)) return undefined;
  return !before || isClosed(before) || before.rowsHash !== after.rowsHash ? "order.call" : undefined;
}

function isClosed({ isPaid, isCanceled, isTransferred, isManuallyClosed }: OrderClosingFlags): boolean {
  return isPaid || isCanceled || isTransferred || isManuallyClosed;
}

/** What filters go by of an order that a list shows; null for one that no list shows. */
export function listedFilterFields(
  order: (OrderFilterFields & { isTraining: boolean; hasLeft?: boolean }) | undefined,
): OrderFilterFields | null {
  if (!order || order.isTraining || order.hasLeft) return null;
  const { tillId, isPaid, isTransferred, isCanceled } = order;
  return { tillId, isPaid, isTransferred, isCanceled };
}

/** Stands for an order's products and menus, in whatever order they are listed. */
export function computeRowsHash({ productRowList, menuRowList }: OrderData): string {
  const rows = [...productRowList, ...menuRowList].map((row) => JSON.stringify(row)).sort();
  return createHash("sha256").update(rows.join("\n")).digest("base64url");
}
