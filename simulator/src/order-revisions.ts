import { establishmentShape } from "@pragma/contracts/establishment";
import type { PosOrderData } from "@pragma/contracts/order-data";
import { maxLiveOrdersPerRequest, type OrderLiveInput } from "@pragma/contracts/order-live";
import {
  computeProductRowAmounts,
  flattenOrderProductRows,
  type PosOrderProductRow,
} from "@pragma/contracts/order-rows";
import { isDeductedPayment } from "./generate-payments.ts";
import type { GeneratedTill } from "./generate-till.ts";
import { buildMenuRowWithProducts, computeSimulatedOrderAmounts, sumFieldOfRows } from "./product-row.ts";
import { SeededRandom } from "./random.ts";
import type { EstablishmentFields } from "./restaurant.ts";

/** A revision of a live order: the whole order after a change. */
export type SimulatedOrderRevision = ReturnType<typeof generateRevisionsOfTillOrders>[number];

/** A simulated day of service: the revisions of its orders by the time when to send them, and the till with the final orders. */
export type SimulatedDay = ReturnType<typeof createSimulatedSchedule>;

/** Returns the schedule of a day, with simulated date-times. `toSimulatedMs` must be increasing. */
export function createSimulatedSchedule(generated: GeneratedTill, toSimulatedMs: (instantMs: number) => number) {
  const shiftedJson = JSON.stringify(generated).replace(utcDateTimePattern, (dateTime) =>
    new Date(Math.round(toSimulatedMs(Date.parse(dateTime)))).toISOString(),
  );
  const till: GeneratedTill = JSON.parse(shiftedJson);
  return { till, revisions: generateRevisionsOfTillOrders(till) };
}

const utcDateTimePattern = /(?<=")\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z(?=")/g;

/** Returns due revisions for one request, at most one of each order, and the remaining queue. */
export function splitDueRevisions(queue: readonly SimulatedOrderRevision[], nowMs: number) {
  const firstLaterIndex = queue.findIndex(({ atMs }) => atMs > nowMs);
  const due = firstLaterIndex < 0 ? queue : queue.slice(0, firstLaterIndex);
  const batch = new Map<string, SimulatedOrderRevision>();
  for (const revision of due)
    if (batch.size < maxLiveOrdersPerRequest && !batch.has(revision.order.id)) batch.set(revision.order.id, revision);
  const postponed = due.filter((revision) => batch.get(revision.order.id) !== revision);
  return { batch: [...batch.values()], rest: [...postponed, ...queue.slice(due.length)] };
}

/** Returns a schedule without past revisions, except for the last past revision of each order. */
export function omitSupersededRevisions(schedule: SimulatedDay, nowMs: number): SimulatedDay {
  const isPast = ({ atMs }: SimulatedOrderRevision) => atMs <= nowMs;
  const lastPast = new Map(schedule.revisions.filter(isPast).map((revision) => [revision.order.id, revision]));
  const isNeeded = (revision: SimulatedOrderRevision) =>
    !isPast(revision) || lastPast.get(revision.order.id) === revision;
  return { ...schedule, revisions: schedule.revisions.filter(isNeeded) };
}

/** Returns all revisions of the orders of a till, sorted by time. The last one equals the order in the till. */
export function generateRevisionsOfTillOrders(till: GeneratedTill) {
  return till.orderList
    .flatMap((final) => {
      const random = new SeededRandom(`revisions/${final.revisionHash}`);
      return listChangeInstants(final).map((instant) => {
        const data = restoreOrderAt(final, instant);
        const revisionHash = (data === final && final.revisionHash) || random.uuid();
        return { atMs: Date.parse(instant), order: buildSimulatedOrderLiveInput(till, { ...data, revisionHash }) };
      });
    })
    .sort((one, other) => one.atMs - other.atMs);
}

/** Returns a live order in the format in which a point of sale sends it, with the ticket header of its restaurant. */
export function buildSimulatedOrderLiveInput(establishment: EstablishmentFields, data: PosOrderData): OrderLiveInput {
  const names = Object.keys(establishmentShape) as (keyof typeof establishmentShape)[];
  const header = Object.fromEntries(names.map((name) => [name, establishment[name]])) as EstablishmentFields;
  const { id, tillId, revisionHash } = data;
  return { ...header, id, tillId: tillId ?? id, revisionHash: revisionHash ?? id, data };
}

function listChangeInstants(order: PosOrderData): string[] {
  const { openedAt, firstBillPrintDate, paidAt, canceledAt, transferredAt, closedAt } = order;
  const instants = [
    ...[openedAt, firstBillPrintDate, paidAt, canceledAt, transferredAt, closedAt],
    ...flattenOrderProductRows(order).flatMap((row) => [row.modifiedAt, ...listRowChangeInstants(row)]),
    ...order.paymentRowList.flatMap((payment) => [payment.recordedAt, payment.modifiedAt]),
  ];
  return [...new Set(instants.filter((instant) => instant !== null))].sort();
}

function listRowChangeInstants({ recordedAt, reclaimedAt, discountRowList }: PosOrderProductRow) {
  return [recordedAt, reclaimedAt, ...discountRowList.map((discount) => discount.recordedAt)];
}

/** Returns the state of an order at an instant after its opening, computed from its final state. */
function restoreOrderAt(final: PosOrderData, instant: string): PosOrderData {
  if (final.closedAt === null || final.closedAt <= instant) return final;
  const rows = new Map(restoreProductRowsAt(flattenOrderProductRows(final), instant).map((row) => [row.id, row]));
  const present = (list: readonly PosOrderProductRow[]) => list.flatMap(({ id }) => rows.get(id) ?? []);
  const productRowList = present(final.productRowList);
  const menuRowList = final.menuRowList
    .filter((menu) => hasHappenedBy(menu.recordedAt, instant))
    .map((menu) => {
      const parts = present(menu.productRowList);
      const changes = [menu.modifiedAt, menu.recordedAt, ...parts.map((row) => row.modifiedAt)];
      const modifiedAt = latestInstantBy(instant, changes);
      const unitPriceRow = sumFieldOfRows(parts, "unitPriceRow");
      return buildMenuRowWithProducts({ ...menu, unitPriceRow, modifiedAt }, parts);
    });
  // A card payment that is declined later is pending until it is declined.
  const paymentRowList = final.paymentRowList
    .filter((row) => hasHappenedBy(row.recordedAt, instant))
    .map((row) =>
      hasHappenedBy(row.modifiedAt, instant) ? row : { ...row, status: "pending" as const, modifiedAt: row.recordedAt },
    );
  const amounts = computeSimulatedOrderAmounts({ productRowList, menuRowList });
  const isCanceled = final.isCanceled && hasHappenedBy(final.canceledAt, instant);
  const isTransferred = final.isTransferred && hasHappenedBy(final.transferredAt, instant);
  const hasBill = final.firstBillPrintDate !== null && hasHappenedBy(final.firstBillPrintDate, instant);
  const settled = sumFieldOfRows(paymentRowList.filter(isDeductedPayment), "amount");
  const leftToPay = isCanceled || isTransferred ? 0 : amounts.total - settled;
  const isMerged = productRowList.some((row) => row.isMerged);
  return {
    ...final,
    ...amounts,
    leftToPay,
    modifiedAt: instant,
    closedAt: null,
    paidAt: hasHappenedBy(final.paidAt, instant) ? final.paidAt : null,
    ...(!isCanceled && { isCanceled, canceledAt: null, canceledReason: null }),
    ...(!isTransferred && { isTransferred, transferredAt: null, transferredTo: null }),
    ...(!hasBill && { firstBillPrintDate: null, billPrintCount: 0 }),
    isMerged,
    groupedTableInfo: isMerged ? final.groupedTableInfo : [],
    manuallyClosed: false,
    isPaid: !isCanceled && paymentRowList.length > 0 && leftToPay === 0,
    signature: null,
    paymentRowList,
    productRowList,
    menuRowList,
  };
}

/** Leaves out rows that were recorded later, and undoes later changes: discounts, calls, cancellations, splits. */
function restoreProductRowsAt(final: readonly PosOrderProductRow[], instant: string): PosOrderProductRow[] {
  return final
    .filter((row) => hasHappenedBy(row.recordedAt, instant))
    .map((row) => {
      const isPartOf = (other: PosOrderProductRow) =>
        other.parentProductRowId === row.id && !hasHappenedBy(other.recordedAt, instant);
      const parts = [row, ...final.filter(isPartOf)];
      const whole = <Part extends { amount: number }>(listOf: (part: PosOrderProductRow) => readonly Part[]): Part[] =>
        listOf(row).map((each, index) => {
          const amounts = parts.map((part) => listOf(part)[index]?.amount ?? 0);
          return { ...each, amount: amounts.reduce((sum, amount) => sum + amount, 0) };
        });
      const discounts = whole((part) => part.discountRowList);
      const discountRowList = discounts.filter((discount) => hasHappenedBy(discount.recordedAt, instant));
      return computeProductRowAmounts({
        ...row,
        ...(!hasHappenedBy(row.modifiedAt, instant) && initialRowState),
        reclaimedAt: hasHappenedBy(row.reclaimedAt, instant) ? row.reclaimedAt : null,
        modifiedAt: latestInstantBy(instant, [row.modifiedAt, ...listRowChangeInstants({ ...row, discountRowList })]),
        unitPriceRow: sumFieldOfRows(parts, "unitPriceRow"),
        modifierRowList: whole((part) => part.modifierRowList),
        discountRowList,
      });
    });
}

/** Also true for null. */
function hasHappenedBy(time: string | null, instant: string): boolean {
  return time === null || time <= instant;
}

/** Returns the last of these times that is not after an instant; null if all times are later. */
function latestInstantBy(instant: string, times: readonly (string | null)[]): string | null {
  const past = times.filter((time) => time !== null && time <= instant);
  return past.sort().at(-1) ?? null;
}

const initialRowState = {
  isCanceled: false,
  canceledReason: null,
  isTransferred: false,
  transferredTo: null,
  isLoss: false,
  lossReason: null,
} as const;
