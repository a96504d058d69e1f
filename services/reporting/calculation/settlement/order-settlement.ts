import { addMoneyAmounts } from "@pragma/contracts/money";
import { sum } from "../groups.ts";
import { isPaymentReducingAmountDue, type ReportableOrder } from "../reportable-orders.ts";

/** How an order was paid. Amounts are in minor units. */
export interface OrderSettlement {
  paid: number;
  /** What is left to pay; negative if the point of sale, or the total of a refund, states that it is owed to the guest. */
  unpaid: number;
  /** What the guest paid beyond the total, and did not get back. */
  overpaid: number;
  /**
   * Whether the guest paid beyond the total by exactly the change. The payments then probably include the change, against
   * the definition of their amounts, so the excess is not `overpaid`.
   */
  includesChange: boolean;
}

/**
 * Returns how an order was paid. For a refund, the unpaid amount is computed, because some points of sale declare 0
 * instead of a negative amount. An order that is paid in excess with nothing left to pay is overpaid: for example, two
 * meal vouchers of 10.00 pay for 16.50, and the law forbids change.
 */
export function computeOrderSettlement({ order, payments }: ReportableOrder): OrderSettlement {
  const settling = payments.filter(isPaymentReducingAmountDue);
  const paid = sum(settling.map(({ amount }) => amount));
  const excess = addMoneyAmounts(paid, -order.total);
  if (order.total < 0) return { paid, unpaid: excess === 0 ? 0 : -excess, overpaid: 0, includesChange: false };
  const isExcess = excess > 0 && order.leftToPay === 0;
  const change = [
    sum(settling.map(({ changeAmount }) => changeAmount)),
    // Some points of sale record change as a row of its own.
    sum(payments.filter(({ paymentType }) => paymentType === "change").map(({ amount }) => Math.abs(amount))),
  ];
  const includesChange = isExcess && change.includes(excess);
  return { paid, unpaid: order.leftToPay, overpaid: isExcess && !includesChange ? excess : 0, includesChange };
}
