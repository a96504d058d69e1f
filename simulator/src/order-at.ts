import type { OrderData } from "@pragma/contracts/order-data";
import type { PaymentRow } from "@pragma/contracts/payment-row";
import { isSettling } from "./generate-payments.ts";
import { orderAmounts } from "./order-amounts.ts";
import { sumOf } from "./product-row.ts";
import { menuRowsAt, productRowsAt } from "./rows-at.ts";

/**
 * A generated order as it was at an instant (a date-time in UTC between its opening and its closing), given what it is
 * in the end. From its closing on it is exactly that.
 */
export function orderAt(final: OrderData, instant: string): OrderData {
  if (final.closedAt === null || final.closedAt <= instant) return final;
  const productRowList = productRowsAt(final.productRowList, instant);
  const menuRowList = menuRowsAt(final.menuRowList, instant);
  const paymentRowList = paymentsAt(final.paymentRowList, instant);
  const amounts = orderAmounts({ productRowList, menuRowList });
  const isBy = (moment: string | null) => moment !== null && moment <= instant;
  const isCanceled = final.isCanceled && isBy(final.canceledAt);
  const isTransferred = final.isTransferred && isBy(final.transferredAt);
  const settled = sumOf(paymentRowList.filter(isSettling), "amount");
  const leftToPay = isCanceled || isTransferred ? 0 : amounts.total - settled;
  const hasBill = isBy(final.firstBillPrintDate);
  const isMerged = productRowList.some((row) => row.isMerged);
  return {
    ...final,
    ...amounts,
    leftToPay,
    modifiedAt: instant,
    closedAt: null,
    paidAt: isBy(final.paidAt) ? final.paidAt : null,
    canceledAt: isCanceled ? final.canceledAt : null,
    canceledReason: isCanceled ? final.canceledReason : null,
    transferredAt: isTransferred ? final.transferredAt : null,
    transferredTo: isTransferred ? final.transferredTo : null,
    firstBillPrintDate: hasBill ? final.firstBillPrintDate : null,
    billPrintCount: hasBill ? final.billPrintCount : 0,
    isMerged,
    groupedTableInfo: isMerged ? final.groupedTableInfo : [],
    manuallyClosed: false,
    isPaid: !isCanceled && paymentRowList.length > 0 && leftToPay === 0,
    isCanceled,
    isTransferred,
    signature: null,
    paymentRowList,
    productRowList,
    menuRowList,
  };
}

/** The instants at which something happens to a generated order, from its opening to its closing, each once. */
export function changesOf(order: OrderData): string[] {
  const { openedAt, firstBillPrintDate, paidAt, canceledAt, transferredAt, closedAt } = order;
  const rows = [...order.productRowList, ...order.menuRowList.flatMap((menu) => menu.productRowList)];
  const instants = [
    ...[openedAt, firstBillPrintDate, paidAt, canceledAt, transferredAt, closedAt],
    ...rows.flatMap((row) => [
      row.recordedAt,
      row.reclaimedAt,
      row.modifiedAt,
      ...row.discountRowList.map((discount) => discount.recordedAt),
    ]),
    ...order.paymentRowList.flatMap((payment) => [payment.recordedAt, payment.modifiedAt]),
  ];
  return [...new Set(instants.filter((instant) => instant !== null))].sort();
}

/** A card that is refused in the end is being asked until then. */
function paymentsAt(final: readonly PaymentRow[], instant: string): PaymentRow[] {
  const isAfter = (moment: string | null) => moment !== null && moment > instant;
  return final
    .filter(({ recordedAt }) => !isAfter(recordedAt))
    .map((row) => (isAfter(row.modifiedAt) ? { ...row, status: "pending", modifiedAt: row.recordedAt } : row));
}
