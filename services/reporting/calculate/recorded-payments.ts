import { plus } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { CountedOrder } from "./counting.ts";
import { Groups, listed } from "./groups.ts";

type RecordedPayment = ReportV2["reportRecordedPayments"][number];

/** Validated payments by name, mode and type. */
export function recordedPayments(orders: CountedOrder[]): RecordedPayment[] {
  const groups = new Groups<RecordedPayment>();
  for (const payment of orders.flatMap((order) => order.payments)) {
    const { name, paymentMode, paymentType } = payment;
    const group = groups.of([name, paymentMode, paymentType], () => ({
      quantity: 0,
      totalAmount: 0,
      changeAmount: 0,
      tipsAmount: 0,
      name,
      paymentMode,
      paymentType,
    }));
    group.quantity += 1;
    group.totalAmount = plus(group.totalAmount, payment.amount);
    group.changeAmount = plus(group.changeAmount, payment.changeAmount);
    group.tipsAmount = plus(group.tipsAmount, payment.tipAmount ?? 0);
  }
  return listed(groups.all(), (group) => [group.totalAmount, group.changeAmount, group.tipsAmount]);
}
