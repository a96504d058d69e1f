import { isUtcBefore } from "@pragma/contracts/date-time";
import { addMoneyAmounts } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillClerkShift } from "@pragma/contracts/till-v2";
import { getCanceledProductRowsOfOrder } from "./cancellations.ts";
import { listRowDiscounts } from "./discounts.ts";
import { groupByKey } from "./groups.ts";
import { listLostProductRows, type ReportableOrder } from "./reportable-orders.ts";

type ShiftFigures = ReportV2["reportClerksShift"][number];

/** Returns the figures of the shifts of all clerks, in the same sequence as the shifts. */
export function computeClerkShiftFigures(shifts: TillClerkShift[], orders: ReportableOrder[]): ShiftFigures[] {
  const figuresByShift = new Map(shifts.map((shift) => [shift, emptyShiftFigures(shift)]));
  const findShift = createShiftFinder(shifts);
  const findFigures = (clerkId: string | null, instant: string) => {
    const shift = findShift(clerkId, instant);
    return shift && figuresByShift.get(shift);
  };
  for (const reportable of orders) {
    const ownerFigures = findFigures(reportable.order.operatorId, reportable.order.openedAt);
    if (ownerFigures) addOrderToShift(ownerFigures, reportable);
    for (const payment of reportable.payments) {
      if (payment.paymentType !== "payment") continue;
      if (ownerFigures) ownerFigures.paymentsOwner = addMoneyAmounts(ownerFigures.paymentsOwner, payment.amount);
      const operatorFigures = findFigures(payment.operatorId, payment.recordedAt);
      if (operatorFigures)
        operatorFigures.paymentsOperator = addMoneyAmounts(operatorFigures.paymentsOperator, payment.amount);
    }
  }
  return [...figuresByShift.values()];
}

function emptyShiftFigures({ id, clockInDate, clockOutDate, name }: TillClerkShift): ShiftFigures {
  return {
    id,
    clockInDate,
    clockOutDate,
    name,
    orderCount: 0,
    guestCount: 0,
    totalDiscount: 0,
    quantityDiscounted: 0,
    cancellations: 0,
    paymentsOwner: 0,
    paymentsOperator: 0,
    losses: 0,
  };
}

function addOrderToShift(figures: ShiftFigures, reportable: ReportableOrder): void {
  const { order, isSale, rows } = reportable;
  for (const { row } of getCanceledProductRowsOfOrder(order))
    figures.cancellations = addMoneyAmounts(figures.cancellations, row.totalRow);
  if (!isSale) return;
  figures.orderCount += 1;
  figures.guestCount = addMoneyAmounts(figures.guestCount, order.guestsCount);
  for (const discount of rows.flatMap(({ row }) => listRowDiscounts(row))) {
    figures.totalDiscount = addMoneyAmounts(figures.totalDiscount, discount.amount);
    figures.quantityDiscounted += 1;
  }
  for (const row of listLostProductRows(reportable)) figures.losses = addMoneyAmounts(figures.losses, row.totalRow);
}

/**
 * Returns a function that finds the shift of an order or payment: the clerk's first shift that contains the instant, or
 * else the clerk's first shift. The function returns undefined if there is no clerk, or if the clerk has no shift. A
 * shift includes its start and excludes its end. If its start or end is null, the shift is not limited on that side.
 */
function createShiftFinder(
  shifts: TillClerkShift[],
): (clerkId: string | null, instant: string) => TillClerkShift | undefined {
  const shiftsByClerk = new Map(groupByKey(shifts, ({ id }) => [id]).map((group) => [group[0].id, group]));
  return (clerkId, instant) => {
    const clerkShifts = clerkId === null ? undefined : shiftsByClerk.get(clerkId);
    return clerkShifts?.find((shift) => isWithinShift(shift, instant)) ?? clerkShifts?.[0];
  };
}

function isWithinShift({ clockInDate, clockOutDate }: TillClerkShift, instant: string): boolean {
  const hasStarted = clockInDate === null || !isUtcBefore(instant, clockInDate);
  return hasStarted && (clockOutDate === null || isUtcBefore(instant, clockOutDate));
}
