import { createDayFormatter, isUtcBefore } from "@pragma/contracts/date-time";
import { type BusEventData, maxOrdersWithoutTillPerShift } from "@pragma/contracts/events";
import type { OrderLeftStreamEventData, OrderLeftStreamReason } from "@pragma/contracts/order-live";
import { tryConsumeDailyQuota } from "@pragma/runtime/admission/daily-quota";
import { runAfterCommit, type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { getFilterFieldsOfListedOrder, type StoredLiveOrderState } from "./order-state.ts";
import { deleteShiftsWithoutLiveOrders, type OpenShift } from "./queries/open-shifts.ts";
import { appendChangeLog, type LiveOrderChangeLogEntry } from "./queries/streams.ts";
import type { LiveOrderBroadcaster } from "./stream/live-order-broadcaster.ts";

/** An order that was live and that the till of its shift does not contain. */
export type OrderWithoutTill = BusEventData<"shift.changed">["ordersWithoutTill"][number];

export interface ShiftChangeOptions {
  locationId: string;
  /** The last position of the location's stream after the change. */
  position: number;
  traceparent: string | undefined;
}

/** Without this quota, invented till ids could fill the stream of all tills. Later shifts are not known to be open. */
const openShiftQuota = { name: "open_shifts", maximum: 1_000, unit: "shifts" };

export interface OrderOfShift {
  id: string;
  tillId: string;
  /** When the order was opened, or when it left an earlier shift. */
  openedAt: string;
  /** Whether the order was live in an earlier shift, whose till does not contain it. */
  isContinued: boolean;
}

/** Publishes the shifts that these orders open, to which they give an earlier start, or in which they are live again. */
export async function publishOpenedShifts(
  tx: SqlTransaction,
  orders: readonly OrderOfShift[],
  { openShifts, timeZone, ...options }: ShiftChangeOptions & { openShifts: Map<string, OpenShift>; timeZone: string },
): Promise<void> {
  const starts = new Map<string, string>();
  const continued = new Map<string, string[]>();
  for (const { id, tillId, openedAt, isContinued } of orders) {
    const startedAt = starts.get(tillId) ?? openShifts.get(tillId)?.startedAt;
    if (isContinued) continued.set(tillId, [...(continued.get(tillId) ?? []), id]);
    if (startedAt === undefined || isUtcBefore(openedAt, startedAt)) starts.set(tillId, openedAt);
    else if (isContinued) starts.set(tillId, startedAt);
  }
  if (starts.size === 0) return;
  const { locationId } = options;
  if (!(await tryConsumeDailyQuota(tx, { locationId, quota: openShiftQuota, amount: starts.size }))) return;
  const toDay = createDayFormatter(timeZone);
  const opened = [...starts].map(([tillId, openedAt]): OpenShift => {
    // Without the digits after the milliseconds, which PostgreSQL does not return.
    const startedAt = new Date(openedAt).toISOString();
    return { tillId, startedAt, day: toDay(startedAt) };
  });
  await Promise.all([
    tx`
      insert into open_shifts (location_id, till_id, started_at, day)
      select ${locationId}, input.* from jsonb_to_recordset(${toRecordsetParameter(tx, opened)})
        as input (till_id uuid, started_at timestamptz, day date)
      on conflict (location_id, till_id) do update set started_at = excluded.started_at, day = excluded.day`,
    ...opened.map((shift) => {
      const continuedOrderIds = continued.get(shift.tillId) ?? [];
      return publishShift(tx, shift, { ...options, isOpen: true, ordersWithoutTill: [], continuedOrderIds });
    }),
  ]);
}

/** Publishes the open shifts without live orders, with their former live orders that are in no till. */
export async function publishEndedShifts(
  tx: SqlTransaction,
  tillIds: string[],
  { ordersWithoutTill, ...options }: ShiftChangeOptions & { ordersWithoutTill?: Map<string, OrderWithoutTill[]> },
): Promise<void> {
  const ended = await deleteShiftsWithoutLiveOrders(tx, { locationId: options.locationId, tillIds });
  await Promise.all(
    ended.map((shift) => {
      const orders = ordersWithoutTill?.get(shift.tillId)?.slice(0, maxOrdersWithoutTillPerShift) ?? [];
      return publishShift(tx, shift, { ...options, isOpen: false, ordersWithoutTill: orders, continuedOrderIds: [] });
    }),
  );
}

interface Departure extends Omit<ShiftChangeOptions, "position"> {
  lastPosition: number;
  orders: Map<string, StoredLiveOrderState>;
  reason: OrderLeftStreamReason;
  /** A shift that ends although it may have had no live order. */
  tillId?: string;
  ordersWithoutTill?: Map<string, OrderWithoutTill[]>;
}

/** Sends the departure of orders to the location's stream after the commit, and publishes the shifts that it ends. */
export async function publishDeparture(
  tx: SqlTransaction,
  { lastPosition, orders, reason, tillId, ...options }: Departure,
  broadcaster: LiveOrderBroadcaster,
): Promise<void> {
  const { locationId } = options;
  const revisions: LiveOrderChangeLogEntry[] = [];
  for (const [id, order] of orders) {
    const before = getFilterFieldsOfListedOrder(order);
    if (!before) continue;
    const left: OrderLeftStreamEventData = { id, locationId, tillId: before.tillId, reason };
    const position = lastPosition + 1 + revisions.length;
    revisions.push({ position, orderId: id, before, after: null, body: JSON.stringify(left) });
  }
  await appendChangeLog(tx, locationId, revisions);
  const position = lastPosition + revisions.length;
  const tillIds = new Set([...orders.values()].map((order) => order.tillId));
  if (tillId !== undefined) tillIds.add(tillId);
  await publishEndedShifts(tx, [...tillIds], { ...options, position });
  runAfterCommit(tx, () => broadcaster.notify(locationId, position));
}

async function publishShift(
  tx: SqlTransaction,
  shift: OpenShift,
  {
    traceparent,
    ...data
  }: ShiftChangeOptions & Pick<BusEventData<"shift.changed">, "isOpen" | "ordersWithoutTill" | "continuedOrderIds">,
): Promise<void> {
  await writeEventToOutbox(tx, "shift.changed", { subject: shift.tillId, data: { ...shift, ...data }, traceparent });
}
