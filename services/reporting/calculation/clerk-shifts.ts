import { isUtcBefore } from "@pragma/contracts/date-time";
import { addAmounts } from "@pragma/contracts/money";
import { allProductRows } from "@pragma/contracts/order-rows";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { ClerkShift } from "@pragma/contracts/till-v2";
import { listCanceledRows } from "./cancellations.ts";
import type { CountedOrder } from "./counted-orders.ts";
import { listValidatedDiscounts } from "./discounts.ts";

type ShiftFigures = ReportV2["reportClerksShift"][number];

/** What each clerk did in each shift, one entry for each shift of the till, in its order. */
export function computeClerkShifts(shifts: ClerkShift[], orders: CountedOrder[]): ShiftFigures[] {
  const figuresOf = new Map(shifts.map((shift) => [shift, emptyShiftFigures(shift)]));
  const shiftOf = createShiftFinder(shifts);
  const find = (clerkId: string | null, moment: string) => {
    const shift = shiftOf(clerkId, moment);
    return shift && figuresOf.get(shift);
  };
  for (const counted of orders) {
    const ownerFigures = find(counted.order.operatorId, counted.order.openedAt);
    if (ownerFigures) addOrderToShift(ownerFigures, counted);
    for (const payment of counted.payments) {
      if (payment.paymentType !== "payment") continue;
      if (ownerFigures) ownerFigures.paymentsOwner = addAmounts(ownerFigures.paymentsOwner, payment.amount);
      const operatorFigures = find(payment.operatorId, payment.recordedAt);
      if (operatorFigures)
        operatorFigures.paymentsOperator = addAmounts(operatorFigures.paymentsOperator, payment.amount);
    }
  }
  return [...figuresOf.values()];
}

function emptyShiftFigures({ id, clockInDate, clockOutDate, name }: ClerkShift): ShiftFigures {
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

function addOrderToShift(figures: ShiftFigures, { order, isSale, rows }: CountedOrder): void {
  for (const { row } of listCanceledRows(order))
    figures.cancellations = addAmounts(figures.cancellations, row.totalRow);
  if (!isSale) return;
  figures.orderCount += 1;
  figures.guestCount = addAmounts(figures.guestCount, order.guestsCount);
  for (const discount of rows.flatMap(({ row }) => listValidatedDiscounts(row))) {
    figures.totalDiscount = addAmounts(figures.totalDiscount, discount.amount);
    figures.quantityDiscounted += 1;
  }
  for (const row of allProductRows(order)) {
    if (row.isLoss && !row.isCanceled && !row.isTransferred) figures.losses = addAmounts(figures.losses, row.totalRow);
  }
}

/**
 * Finds the shift that an order or payment belongs to: the first of its clerk's shifts that contains the moment (from
 * clocking in, up to but not including clocking out; open where a date is null), else that clerk's first shift. What
 * has no clerk, or one without shifts, belongs to none.
 */
function createShiftFinder(shifts: ClerkShift[]): (clerkId: string | null, moment: string) => ClerkShift | undefined {
  const shiftsByClerk = new Map<string, ClerkShift[]>();
  for (const shift of shifts) {
    const known = shiftsByClerk.get(shift.id);
    if (known) known.push(shift);
    else shiftsByClerk.set(shift.id, [shift]);
  }
  return (clerkId, moment) => {
    const own = clerkId === null ? undefined : shiftsByClerk.get(clerkId);
    return own?.find((shift) => isWithinShift(shift, moment)) ?? own?.[0];
  };
}

function isWithinShift({ clockInDate, clockOutDate }: ClerkShift, moment: string): boolean {
  const started = clockInDate === null || !isUtcBefore(moment, clockInDate);
  return started && (clockOutDate === null || isUtcBefore(moment, clockOutDate));
}
