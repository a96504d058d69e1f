import type { PosOrderPaymentRow } from "@pragma/contracts/order-rows";
import { groupByKey, sum } from "../groups.ts";
import type { ReportableOrder } from "../reportable-orders.ts";

/**
 * Change that was given by another method than the payment, such as cash for a meal voucher. The amount of a payment is
 * net of change, so the voucher is worth this amount more, and the drawer contains this amount less.
 */
export interface ChangeByOtherMethod extends Pick<PosOrderPaymentRow, "name" | "paymentMode" | "paymentType"> {
  changeName: string | null;
  changeMode: PosOrderPaymentRow["paymentMode"];
  amount: number;
}

/**
 * Returns the change that was given by another method than the payment, by both methods. Change without a payment mode was
 * given by the method of the payment.
 */
export function listChangeByOtherMethods(orders: readonly ReportableOrder[]): ChangeByOtherMethod[] {
  const changes = orders
    .flatMap(({ payments }) => payments)
    .flatMap((row): ChangeByOtherMethod[] => {
      const { name, paymentMode, paymentType, changeAmount: amount, changePaymentMode: changeMode } = row;
      if (amount === 0 || changeMode === null || paymentType === "change" || paymentType === "discount") return [];
      const changeName = row.changePaymentName ?? (changeMode === paymentMode ? name : null);
      if (changeMode === paymentMode && changeName === name) return [];
      return [{ name, paymentMode, paymentType, changeName, changeMode, amount }];
    });
  return groupByKey(changes, ({ amount: _, ...methods }) => Object.values(methods)).map((group) => ({
    ...group[0],
    amount: sum(group.map(({ amount }) => amount)),
  }));
}

/** Returns the cash that was given as change on payments by other modes, less the other change on cash payments. */
export function computeCashChange(changes: readonly ChangeByOtherMethod[]): number {
  return sum(
    changes.flatMap(({ paymentMode, changeMode, amount }) => [
      changeMode === "cash" ? amount : 0,
      paymentMode === "cash" ? -amount : 0,
    ]),
  );
}
