import { isBefore } from "@pragma/contracts/date-time";
import { plus } from "@pragma/contracts/money";
import { allRows } from "@pragma/contracts/order-rows";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { ClerkShift } from "@pragma/contracts/till-v2";
import { canceledRows } from "./cancellations.ts";
import type { CountedOrder } from "./counting.ts";
import { validatedDiscounts } from "./discounts.ts";

type ShiftFigures = ReportV2["reportClerksShift"][number];

/** What each clerk did in each shift, one entry for each shift of the till, in its order. */
export function clerkShifts(shifts: ClerkShift[], orders: CountedOrder[]): ShiftFigures[] {
  const figuresOf = new Map(shifts.map((shift) => [shift, startFigures(shift)]));
  const shiftOf = shiftFinder(shifts);
  const find = (clerkId: string | null, moment: string) => {
    const shift = shiftOf(clerkId, moment);
    return shift && figuresOf.get(shift);
  };
  for (const counted of orders) {
    const own = find(counted.order.operatorId, counted.order.openedAt);
    if (own) addOrder(own, counted);
    for (const payment of counted.payments) {
      if (payment.paymentType !== "payment") continue;
      if (own) own.paymentsOwner = plus(own.paymentsOwner, payment.amount);
      const takenIn = find(payment.operatorId, payment.recordedAt);
      if (takenIn) takenIn.paymentsOperator = plus(takenIn.paymentsOperator, payment.amount);
    }
  }
  return [...figuresOf.values()];
}

function startFigures({ id, clockInDate, clockOutDate, name }: ClerkShift): ShiftFigures {
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

function addOrder(figures: ShiftFigures, { order, counts, rows }: CountedOrder): void {
  for (const { row } of canceledRows(order)) figures.cancellations = plus(figures.cancellations, row.totalRow);
  if (!counts) return;
  figures.orderCount += 1;
  figures.guestCount = plus(figures.guestCount, order.guestsCount);
  for (const discount of rows.flatMap(({ row }) => validatedDiscounts(row))) {
    figures.totalDiscount = plus(figures.totalDiscount, discount.amount);
    figures.quantityDiscounted += 1;
  }
  for (const row of allRows(order)) {
    if (row.isLoss && !row.isCanceled && !row.isTransferred) figures.losses = plus(figures.losses, row.totalRow);
  }
}

/**
 * Finds the shift that an order or payment belongs to: the first of its clerk's shifts that contains the moment (from
 * clocking in, up to but not including clocking out; open where a date is null), else that clerk's first shift. What
 * has no clerk, or one without shifts, belongs to none.
 */
function shiftFinder(shifts: ClerkShift[]): (clerkId: string | null, moment: string) => ClerkShift | undefined {
  const shiftsByClerk = new Map<string, ClerkShift[]>();
  for (const shift of shifts) {
    const known = shiftsByClerk.get(shift.id);
    if (known) known.push(shift);
    else shiftsByClerk.set(shift.id, [shift]);
  }
  return (clerkId, moment) => {
    const own = clerkId === null ? undefined : shiftsByClerk.get(clerkId);
    return own?.find((shift) => contains(shift, moment)) ?? own?.[0];
  };
}

function contains({ clockInDate, clockOutDate }: ClerkShift, moment: string): boolean {
  const started = clockInDate === null || !isBefore(moment, clockInDate);
  return started && (clockOutDate === null || isBefore(moment, clockOutDate));
}
