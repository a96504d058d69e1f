import { establishmentShape } from "@pragma/contracts/establishment";
import type { OrderData } from "@pragma/contracts/order-data";
import { maxLiveOrdersPerRequest, type OrderLiveInput } from "@pragma/contracts/order-live";
import { allProductRows, computeRowAmounts, type ProductRow } from "@pragma/contracts/order-rows";
import { isSettlingPayment } from "./generate-payments.ts";
import type { GeneratedTill } from "./generate-till.ts";
import { computeOrderAmounts, replaceMenuProductRows, sumField } from "./product-row.ts";
import { Random } from "./random.ts";
import type { Establishment } from "./restaurant.ts";

/** One change of an order. */
export interface OrderRevision {
  /** When it happens, in milliseconds. */
  readonly at: number;
  readonly order: OrderLiveInput;
}

/**
 * How the orders of a generated till came about: each change of each order, in the order in which they happen. An
 * order's last revision is the order as the till has it. The same till gives the same revisions.
 */
export function generateOrderRevisions(till: GeneratedTill): OrderRevision[] {
  return till.orderList
    .flatMap((final) => {
      const random = new Random(`revisions/${final.revisionHash}`);
      return listChangeInstants(final).map((instant): OrderRevision => {
        const data = restoreOrderAt(final, instant);
        const revisionHash = (data === final && final.revisionHash) || random.uuid();
        return { at: Date.parse(instant), order: createLiveOrder(till, { ...data, revisionHash }) };
      });
    })
    .sort((one, other) => one.at - other.at);
}

/** An open order as a point of sale sends it, with the header of the restaurant as its tickets show it. */
export function createLiveOrder(establishment: Establishment, data: OrderData): OrderLiveInput {
  const names = Object.keys(establishmentShape) as (keyof typeof establishmentShape)[];
  const header = Object.fromEntries(names.map((name) => [name, establishment[name]]));
  const { id, tillId, revisionHash } = data;
  return { ...(header as Establishment), id, tillId: tillId ?? id, revisionHash: revisionHash ?? id, data };
}

/** The instants at which something happens to a generated order, from its opening to its closing, each once. */
function listChangeInstants(order: OrderData): string[] {
  const { openedAt, firstBillPrintDate, paidAt, canceledAt, transferredAt, closedAt } = order;
  const instants = [
    ...[openedAt, firstBillPrintDate, paidAt, canceledAt, transferredAt, closedAt],
    ...allProductRows(order).flatMap((row) => [row.modifiedAt, ...listRowChangeInstants(row)]),
    ...order.paymentRowList.flatMap((payment) => [payment.recordedAt, payment.modifiedAt]),
  ];
  return [...new Set(instants.filter((instant) => instant !== null))].sort();
}

function listRowChangeInstants({ recordedAt, reclaimedAt, discountRowList }: ProductRow) {
  return [recordedAt, reclaimedAt, ...discountRowList.map((discount) => discount.recordedAt)];
}

/**
 * A generated order as it was at an instant (a date-time in UTC between its opening and its closing), given what it is
 * in the end. From its closing on it is exactly that.
 */
function restoreOrderAt(final: OrderData, instant: string): OrderData {
  if (final.closedAt === null || final.closedAt <= instant) return final;
  const rows = new Map(restoreProductRowsAt(allProductRows(final), instant).map((row) => [row.id, row]));
  const present = (list: readonly ProductRow[]) => list.flatMap(({ id }) => rows.get(id) ?? []);
  const productRowList = present(final.productRowList);
  const menuRowList = final.menuRowList
    .filter((menu) => hasHappenedBy(menu.recordedAt, instant))
    .map((menu) => {
      const parts = present(menu.productRowList);
      const modifiedAt = latestInstantBy(instant, [
        menu.modifiedAt,
        menu.recordedAt,
        ...parts.map((row) => row.modifiedAt),
      ]);
      return replaceMenuProductRows({ ...menu, unitPriceRow: sumField(parts, "unitPriceRow"), modifiedAt }, parts);
    });
  // A card that is refused in the end is being asked until then.
  const paymentRowList = final.paymentRowList
    .filter((row) => hasHappenedBy(row.recordedAt, instant))
    .map((row) =>
      hasHappenedBy(row.modifiedAt, instant) ? row : { ...row, status: "pending" as const, modifiedAt: row.recordedAt },
    );
  const amounts = computeOrderAmounts({ productRowList, menuRowList });
  const isCanceled = final.isCanceled && hasHappenedBy(final.canceledAt, instant);
  const isTransferred = final.isTransferred && hasHappenedBy(final.transferredAt, instant);
  const hasBill = final.firstBillPrintDate !== null && hasHappenedBy(final.firstBillPrintDate, instant);
  const settled = sumField(paymentRowList.filter(isSettlingPayment), "amount");
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

/** The rows that were there: without later discounts, calls of the kitchen and cancellations, and whole until they are split. */
function restoreProductRowsAt(final: readonly ProductRow[], instant: string): ProductRow[] {
  return final
    .filter((row) => hasHappenedBy(row.recordedAt, instant))
    .map((row) => {
      const isPartOf = (other: ProductRow) =>
        other.parentProductRowId === row.id && !hasHappenedBy(other.recordedAt, instant);
      const parts = [row, ...final.filter(isPartOf)];
      const whole = <Part extends { amount: number }>(listOf: (part: ProductRow) => readonly Part[]): Part[] =>
        listOf(row).map((each, index) => {
          const amounts = parts.map((part) => listOf(part)[index]?.amount ?? 0);
          return { ...each, amount: amounts.reduce((sum, amount) => sum + amount, 0) };
        });
      const discounts = whole((part) => part.discountRowList);
      const discountRowList = discounts.filter((discount) => hasHappenedBy(discount.recordedAt, instant));
      return computeRowAmounts({
        ...row,
        ...(!hasHappenedBy(row.modifiedAt, instant) && initialRowState),
        reclaimedAt: hasHappenedBy(row.reclaimedAt, instant) ? row.reclaimedAt : null,
        modifiedAt: latestInstantBy(instant, [row.modifiedAt, ...listRowChangeInstants({ ...row, discountRowList })]),
        unitPriceRow: sumField(parts, "unitPriceRow"),
        modifierRowList: whole((part) => part.modifierRowList),
        discountRowList,
      });
    });
}

/** Whether a time has come; what has none always was. */
function hasHappenedBy(time: string | null, instant: string): boolean {
  return time === null || time <= instant;
}

/** The last of these times that has come; null when there is none. */
function latestInstantBy(instant: string, times: readonly (string | null)[]): string | null {
  const past = times.filter((time) => time !== null && time <= instant);
  return past.sort().at(-1) ?? null;
}

/** How a row is before it is canceled, transferred or lost. */
const initialRowState = {
  isCanceled: false,
  canceledReason: null,
  isTransferred: false,
  transferredTo: null,
  isLoss: false,
  lossReason: null,
} as const;

/** A day of service to be played: its orders as they come and go, and the till that they end in. */
export interface OrderSchedule {
  readonly till: GeneratedTill;
  /** Each with the instant at which it is due (milliseconds), sorted by it. */
  readonly revisions: readonly OrderRevision[];
  /** When the till is closed, in milliseconds. */
  readonly closesAt: number;
  /** Whether its report gets the next number of the location's reports rather than the till's own. */
  readonly isNumberedLast: boolean;
}

/** When an instant of the till is played; both in milliseconds, the later one later. */
type InstantMapping = (instant: number) => number;

/** A day whose orders and till carry the times of the till, whenever they are played. */
export function scheduleAtOriginalTimes(till: GeneratedTill, pace: InstantMapping): OrderSchedule {
  return {
    till,
    revisions: generateOrderRevisions(till).map(({ at, order }) => ({ at: pace(at), order })),
    closesAt: pace(Date.parse(till.finalizedAt)),
    isNumberedLast: false,
  };
}

/** A day whose orders and till carry the times at which they are played. */
export function scheduleAtPlayedTimes(till: GeneratedTill, pace: InstantMapping): OrderSchedule {
  const moved = JSON.stringify(till).replace(utcDateTimePattern, (dateTime) =>
    new Date(Math.round(pace(Date.parse(dateTime)))).toISOString(),
  );
  return { ...scheduleAtOriginalTimes(JSON.parse(moved), (instant) => instant), isNumberedLast: true };
}

const utcDateTimePattern = /(?<=")\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z(?=")/g;

/** Takes the revisions that are due by now off a queue: of each order its next one, as many as one call may bring. */
export function takeDueRevisions(
  queue: readonly OrderRevision[],
  now: number,
): { batch: OrderRevision[]; rest: OrderRevision[] } {
  const firstLater = queue.findIndex(({ at }) => at > now);
  const due = firstLater < 0 ? queue : queue.slice(0, firstLater);
  const batch = new Map<string, OrderRevision>();
  for (const revision of due)
    if (batch.size < maxLiveOrdersPerRequest && !batch.has(revision.order.id)) batch.set(revision.order.id, revision);
  const left = due.filter((revision) => batch.get(revision.order.id) !== revision);
  return { batch: [...batch.values()], rest: [...left, ...queue.slice(due.length)] };
}

/** The day for a player who joins it at an instant: of what happened before, each order's last revision only. */
export function joinScheduleAt(day: OrderSchedule, now: number): OrderSchedule {
  const past = day.revisions.filter(({ at }) => at <= now);
  const last = new Map(past.map((revision) => [revision.order.id, revision]));
  return {
    ...day,
    revisions: day.revisions.filter((revision) => revision.at > now || last.get(revision.order.id) === revision),
  };
}
