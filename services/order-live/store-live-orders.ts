import { maxDevicesPerLocation, type PosDeviceIdentity } from "@pragma/contracts/device";
import type { OrderLeftStreamEventData, SkippedLiveOrderReason } from "@pragma/contracts/order-live";
import type { LocationRef } from "@pragma/contracts/principal";
import { consumeDailyQuotasOrThrow, tryConsumeDailyQuota } from "@pragma/runtime/admission/daily-quota";
import { runAfterCommit, type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import { computeEntityTag } from "@pragma/runtime/http/route-response";
import { joinJsonObjectTexts, wrapJsonTextInObject } from "@pragma/runtime/json/join-json";
import { findErasedOrderIds, redactPersonalDataInJson } from "@pragma/runtime/messaging/erased-orders";
import { writeEventJsonToOutbox, writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { OrderLiveServiceContext } from "./context.ts";
import {
  determineOrderEventType,
  findSkipReason,
  getFilterFieldsOfListedOrder,
  getLaterTime,
  type OrderEventType,
  replaceFutureTime,
  type StoredLiveOrderState,
} from "./order-state.ts";
import type { ValidatedLiveOrderUpsert } from "./orders-body.ts";
import {
  type OrderOfShift,
  publishEndedShifts,
  publishOpenedShifts,
  type ShiftChangeOptions,
} from "./publish-shift-changes.ts";
import { findFinalTillsAndOpenShifts, type OpenShift } from "./queries/open-shifts.ts";
import { findOrderStates, type LiveOrderUpsertRow, upsertLiveOrderRows } from "./queries/orders.ts";
import { appendChangeLog, type LiveOrderChangeLogEntry, lockStreamPosition } from "./queries/streams.ts";

interface UpsertOrdersOptions {
  location: Pick<LocationRef, "id" | "timeZone" | "isSandbox">;
  orders: ValidatedLiveOrderUpsert[];
  context: ObservabilityContext;
}

interface UpsertedLiveOrders {
  /** The ids and response bodies of the orders that were created or updated. */
  applied: Pick<LiveOrderUpsertRow, "id" | "body">[];
  skipped: { id: string; reason: SkippedLiveOrderReason }[];
}

interface OrderChange {
  incoming: ValidatedLiveOrderUpsert;
  stored: LiveOrderUpsertRow;
  event: OrderEventType | undefined;
  before: StoredLiveOrderState | undefined;
  /** Undefined for a training order that was not listed before, because lists never show training orders. */
  revision: LiveOrderChangeLogEntry | undefined;
}

/**
 * Creates or updates a location's orders in one transaction. Skips those that are unchanged or outdated, or whose till
 * has a final report, and omits the personal data of erased orders. @throws `ApiError` quota_exceeded.
 */
export async function storeLiveOrders(
  { db, broadcaster, quotasOf }: OrderLiveServiceContext,
  { location, orders, context }: UpsertOrdersOptions,
): Promise<UpsertedLiveOrders> {
  const { id: locationId, timeZone } = location;
  const quotas = quotasOf(location);
  const { traceparent } = context;
  return db.transaction(async (tx) => {
    const ids = orders.map(({ id }) => id);
    const tillIds = [...new Set(orders.map(({ state }) => state.tillId))];
    // The queries are pipelined on one connection in this sequence, so that the reads run after the lock is acquired.
    const [lastPosition, erasedIds, storedStates, { finalTillIds, openShifts }, unreportedDevices] = await Promise.all([
      lockStreamPosition(tx, locationId),
      findErasedOrderIds(tx, { locationId, orderIds: ids }),
      findOrderStates(tx, { locationId, ids }),
      findFinalTillsAndOpenShifts(tx, { locationId, tillIds }),
      claimUnreportedDevices(tx, locationId, orders),
    ]);
    const now = new Date().toISOString();
    const changes: OrderChange[] = [];
    const skipped: UpsertedLiveOrders["skipped"] = [];
    let position = lastPosition;
    for (const received of orders) {
      // Later updates are compared with this time. The content keeps the time that was sent.
      const modifiedAt = received.state.modifiedAt && replaceFutureTime(received.state.modifiedAt, now);
      const order = { ...received, state: { ...received.state, modifiedAt } };
      const before = storedStates.get(order.id);
      const reason = findSkipReason(order.state, before, { finalTills: finalTillIds });
      if (reason) {
        skipped.push({ id: order.id, reason });
        continue;
      }
      const incoming = erasedIds.has(order.id) ? redactOrder(order) : order;
      const change = computeOrderChange(incoming, before, { locationId, now, position });
      position = change.revision?.position ?? position;
      changes.push(change);
    }
    context.addLogFields({ orders: orders.length, applied: changes.length });
    const eventContents = changes.flatMap(({ event, incoming }) => (event ? incoming.eventContent : []));
    const eventBytes = sumBytes(eventContents) + eventContents.length * eventOverheadBytes;
    await Promise.all([
      writeChanges(tx, changes, { locationId, traceparent }),
      changes.length > 0 &&
        consumeDailyQuotasOrThrow(tx, locationId, [
          { quota: quotas.orderBytes, amount: sumBytes(changes.map(({ stored }) => stored.body)) },
          { quota: quotas.eventBytes, amount: eventBytes },
        ]),
      ...unreportedDevices.map((device) => {
        const data = { locationId, ...device, seenAt: now };
        return writeEventToOutbox(tx, "device.seen", { subject: device.deviceId, data, traceparent });
      }),
    ]);
    await publishShiftChanges(tx, changes, { locationId, timeZone, openShifts, position, now, traceparent });
    if (position > lastPosition) runAfterCommit(tx, () => broadcaster.notify(locationId, position));
    return { applied: changes.map(({ stored: { id, body } }) => ({ id, body })), skipped };
  });
}

function redactOrder(order: ValidatedLiveOrderUpsert): ValidatedLiveOrderUpsert {
  const { responseContent, eventContent } = order;
  return {
    ...order,
    responseContent: redactPersonalDataInJson(responseContent),
    eventContent: redactPersonalDataInJson(eventContent),
  };
}

/** The bytes of an event besides its order: its envelope, and the overhead of its message in the stream. */
const eventOverheadBytes = 600;

const sumBytes = (texts: string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

function computeOrderChange(
  incoming: ValidatedLiveOrderUpsert,
  before: StoredLiveOrderState | undefined,
  { locationId, now, position }: { locationId: string; now: string; position: number },
): OrderChange {
  const { id, openedAt, isTraining, state, responseContent } = incoming;
  const event = isTraining ? undefined : determineOrderEventType(before?.isTraining ? undefined : before, state);
  const listedBefore = getFilterFieldsOfListedOrder(before);
  const listedAfter = getFilterFieldsOfListedOrder({ ...state, isTraining });
  const isShown = listedBefore !== null || listedAfter !== null;
  const createdAt = before?.createdAt ?? new Date(now);
  const body = joinJsonObjectTexts(JSON.stringify({ id, createdAt, updatedAt: now, locationId }), responseContent);
  const stored: LiveOrderUpsertRow = {
    id,
    ...state,
    modifiedAt: getLaterTime(state.modifiedAt, before?.modifiedAt ?? null),
    isTraining,
    sequence: (before?.sequence ?? 0) + (event ? 1 : 0),
    position: isShown ? position + 1 : (before?.position ?? 0),
    openedAt,
    createdAt,
    updatedAt: now,
    etag: computeEntityTag(body),
    body,
    hasDeparted: false,
    closedAt: null,
  };
  const left: OrderLeftStreamEventData = { id, locationId, tillId: state.tillId, reason: "training" };
  const revision = isShown && {
    position: stored.position,
    orderId: id,
    before: listedBefore,
    after: listedAfter,
    body: listedAfter ? body : JSON.stringify(left),
  };
  return { incoming, before, stored, event, revision: revision || undefined };
}

interface PublishShiftsOptions extends ShiftChangeOptions {
  timeZone: string;
  openShifts: Map<string, OpenShift>;
  now: string;
}

async function publishShiftChanges(
  tx: SqlTransaction,
  changes: readonly OrderChange[],
  { now, timeZone, openShifts, ...options }: PublishShiftsOptions,
): Promise<void> {
  const opening: OrderOfShift[] = [];
  const left = new Set<string>();
  for (const { incoming, before: stored, revision } of changes) {
    if (!revision) continue;
    const { before, after } = revision;
    const isMoved = before !== null && before.tillId !== after?.tillId;
    if (isMoved) left.add(before.tillId);
    // An order of an earlier shift that continues in this one is older than the shift.
    const hasDeparted = stored?.hasDeparted === true;
    const openedAt = isMoved || hasDeparted ? now : incoming.openedAt;
    const isContinued = hasDeparted && stored.closedAt === null;
    if (after) opening.push({ id: incoming.id, tillId: after.tillId, openedAt, isContinued });
  }
  await publishOpenedShifts(tx, opening, { ...options, openShifts, timeZone });
  if (left.size > 0) await publishEndedShifts(tx, [...left], options);
}

async function writeChanges(
  tx: SqlTransaction,
  changes: OrderChange[],
  { locationId, traceparent }: { locationId: string; traceparent: string },
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(({ stored }) => stored);
  const revisions = changes.flatMap(({ revision }) => revision ?? []);
  await Promise.all([
    upsertLiveOrderRows(tx, locationId, rows),
    appendChangeLog(tx, locationId, revisions),
    ...changes.map(async ({ incoming, stored: { id, sequence }, event }) => {
      if (!event) return;
      const order = joinJsonObjectTexts(incoming.eventContent, JSON.stringify({ locationId }));
      const data = joinJsonObjectTexts(JSON.stringify({ locationId, sequence }), wrapJsonTextInObject("order", order));
      await writeEventJsonToOutbox(tx, event, { subject: id, locationId, data, traceparent });
    }),
  ]);
}

/** Without this quota, invented devices in unchanged orders could fill the stream of the events of all tills. */
const deviceEventQuota = { name: "device_events", maximum: 100 * maxDevicesPerLocation, unit: "events" };

/**
 * Returns the devices of these orders that were not published within the last hour or whose name has changed, and records
 * them as published. Returns none if the daily quota is used up. Only the `maxDevicesPerLocation` devices that were
 * published last are stored.
 */
async function claimUnreportedDevices(
  tx: SqlTransaction,
  locationId: string,
  orders: ValidatedLiveOrderUpsert[],
): Promise<PosDeviceIdentity[]> {
  const seenDevices = orders.flatMap(({ device }) => device ?? []);
  // Contains each device once, with its name in the last order that contains the device.
  const devices = [...new Map(seenDevices.map((device) => [device.deviceId, device])).values()];
  const unreported = await tx<PosDeviceIdentity[]>`
    insert into published_devices as existing (location_id, id, name, published_at)
    select ${locationId}, device_id, name, now()
    from jsonb_to_recordset(${toRecordsetParameter(tx, devices)}) as input (device_id text, name text)
    on conflict (location_id, id) do update
      set name = coalesce(excluded.name, existing.name), published_at = excluded.published_at
      where existing.published_at < now() - interval '1 hour' or excluded.name is distinct from existing.name
        and excluded.name is not null
    returning id as device_id, name`;
  if (unreported.length > 0) {
    await tx`
      delete from published_devices where location_id = ${locationId} and id in (
        select id from published_devices where location_id = ${locationId}
        order by published_at desc, id offset ${maxDevicesPerLocation}
      )`;
    if (!(await tryConsumeDailyQuota(tx, { locationId, quota: deviceEventQuota, amount: unreported.length })))
      return [];
  }
  return unreported;
}
