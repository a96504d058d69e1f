import { maxDevices, type SeenDevice } from "@pragma/contracts/device";
import type { OrderLeft } from "@pragma/contracts/order-live";
import { consumeDailyQuota } from "@pragma/runtime/daily-quota";
import { joinObjects, objectOf } from "@pragma/runtime/join-json";
import { publish, publishText } from "@pragma/runtime/outbox";
import { afterCommit, recordset, type Transaction } from "@pragma/runtime/postgres";
import { entityTagOf } from "@pragma/runtime/reply";
import type { RequestContext } from "@pragma/runtime/request-context";
import type { OrderLiveService } from "./order-live.ts";
import { eventOf, isSkipped, laterOf, listedFacts, type OrderEventType, type OrderState } from "./order-state.ts";
import type { GivenOrder } from "./orders-body.ts";
import { findFinalTills, findStates, type LiveOrder, putOrders } from "./queries/orders.ts";
import { appendRevisions, lockStream, type Revision } from "./queries/streams.ts";

interface UpsertOrders {
  locationId: string;
  orders: GivenOrder[];
  context: RequestContext;
}

/** What becomes of one order that is taken. */
interface Change {
  given: GivenOrder;
  stored: LiveOrder;
  event: OrderEventType | undefined;
  /** None for one that no list showed nor shows: made in school mode. */
  revision: Revision | undefined;
}

/**
 * Takes a location's orders as they are now, in one transaction: orders that are not known are new, others change, and
 * those that would change nothing, or are late, are skipped. Each change that lists show enters the location's stream;
 * each gives at most one event.
 *
 * @throws `ApiError` quota_exceeded.
 * @returns the replies of the orders that were taken, in the order in which they were given.
 */
export async function upsertOrders(
  { db, hub, quota }: Pick<OrderLiveService, "db" | "hub" | "quota">,
  { locationId, orders, context }: UpsertOrders,
): Promise<string[]> {
  const { traceparent } = context;
  return db.transaction(async (tx) => {
    const ids = orders.map(({ id }) => id);
    const tillIds = [...new Set(orders.map(({ state }) => state.tillId))];
    // Sent one after the other without waiting in between: what is read is read once the lock is held.
    const [last, known, finalTills, untold] = await Promise.all([
      lockStream(tx, locationId),
      findStates(tx, { locationId, ids }),
      findFinalTills(tx, { locationId, tillIds }),
      takeUntold(tx, locationId, devicesOf(orders)),
    ]);
    const now = new Date().toISOString();
    const changes: Change[] = [];
    let position = last;
    for (const given of orders) {
      const before = known.get(given.id);
      if (isSkipped(given.state, before, finalTills)) continue;
      const change = changeOf(given, before, { locationId, now, position });
      position = change.revision?.position ?? position;
      changes.push(change);
    }
    context.addToLog({ orders: orders.length, applied: changes.length });
    await Promise.all([
      write(tx, { locationId, changes, traceparent }),
      changes.length > 0 && consumeDailyQuota(tx, { locationId, quota, amount: bytesOf(changes) }),
      ...untold.map((device) => {
        const data = { locationId, ...device, seenAt: now };
        return publish(tx, "device.seen", { subject: device.deviceId, data, traceparent });
      }),
    ]);
    if (position > last) afterCommit(tx, () => hub.tell(locationId, position));
    return changes.map(({ stored }) => stored.body);
  });
}

function bytesOf(changes: Change[]): number {
  return changes.reduce((sum, { stored }) => sum + Buffer.byteLength(stored.body), 0);
}

function changeOf(
  given: GivenOrder,
  before: OrderState | undefined,
  { locationId, now, position }: { locationId: string; now: string; position: number },
): Change {
  const { id, openedAt, isTraining, state, content } = given;
  const event = isTraining ? undefined : eventOf(before?.isTraining ? undefined : before, state);
  const wasListed = listedFacts(before);
  const isListed = listedFacts({ ...state, isTraining });
  const isShown = wasListed !== null || isListed !== null;
  const createdAt = before?.createdAt ?? now;
  const body = joinObjects(JSON.stringify({ id, createdAt, updatedAt: now, locationId }), content);
  const stored: LiveOrder = {
    id,
    ...state,
    modifiedAt: laterOf(state.modifiedAt, before?.modifiedAt ?? null),
    isTraining,
    sequence: (before?.sequence ?? 0) + (event ? 1 : 0),
    position: isShown ? position + 1 : (before?.position ?? 0),
    openedAt,
    createdAt,
    updatedAt: now,
    etag: entityTagOf(body),
    body,
    hasLeft: false,
    closedAt: null,
  };
  const left: OrderLeft = { id, locationId, tillId: state.tillId, reason: "training" };
  const revision = isShown && {
    position: stored.position,
    orderId: id,
    before: wasListed,
    after: isListed,
    body: isListed ? body : JSON.stringify(left),
  };
  return { given, stored, event, revision: revision || undefined };
}

interface Writing {
  locationId: string;
  changes: Change[];
  traceparent: string;
}

async function write(tx: Transaction, { locationId, changes, traceparent }: Writing): Promise<void> {
  if (changes.length === 0) return;
  await Promise.all([
    putOrders(
      tx,
      locationId,
      changes.map(({ stored }) => stored),
    ),
    appendRevisions(
      tx,
      locationId,
      changes.flatMap(({ revision }) => revision ?? []),
    ),
    ...changes.map((change) => tellOrder(tx, change, { locationId, traceparent })),
  ]);
}

async function tellOrder(
  tx: Transaction,
  { given, stored, event }: Change,
  { locationId, traceparent }: Pick<Writing, "locationId" | "traceparent">,
): Promise<void> {
  if (!event) return;
  const order = joinObjects(given.eventContent, JSON.stringify({ locationId }));
  const data = joinObjects(JSON.stringify({ locationId, sequence: stored.sequence }), objectOf("order", order));
  await publishText(tx, event, { subject: stored.id, locationId, data, traceparent });
}

/** The devices that these orders name, each once, by the name that it was given last. */
function devicesOf(orders: GivenOrder[]): SeenDevice[] {
  const devices = orders.flatMap(({ device }) => device ?? []);
  return [...new Map(devices.map((device) => [device.deviceId, device])).values()];
}

/**
 * Notes devices as told, and gives those that accounts must be told of: not told within the hour, or by another name.
 * A device without a name keeps the one that it had. Of a location's devices those that were told last are kept.
 */
async function takeUntold(tx: Transaction, locationId: string, devices: SeenDevice[]): Promise<SeenDevice[]> {
  const untold = await tx<SeenDevice[]>`
    insert into devices (location_id, id, name, told_at)
    select ${locationId}, device_id, name, now()
    from jsonb_to_recordset(${recordset(tx, devices)}) as given (device_id text, name text)
    on conflict (location_id, id) do update
      set name = coalesce(excluded.name, devices.name), told_at = excluded.told_at
      where devices.told_at < now() - interval '1 hour' or excluded.name is distinct from devices.name
        and excluded.name is not null
    returning id as device_id, name`;
  if (untold.length > 0) {
    await tx`
      delete from devices where location_id = ${locationId} and id in (
        select id from devices where location_id = ${locationId} order by told_at desc, id offset ${maxDevices}
      )`;
  }
  return untold;
}
