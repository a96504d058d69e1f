import { plus } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { Groups } from "./groups.ts";

type DeclaredPayment = ReportV2["reportPayments"][number];

/** The payments that the point of sale declares, by name, mode and catalogue id. */
export function declaredPayments(payments: TillV2["declaredPaymentList"]): DeclaredPayment[] {
  const groups = new Groups<DeclaredPayment>();
  for (const { paymentName, paymentMode, paymentId, paymentAmount } of payments) {
    const group = groups.of([paymentName, paymentMode, paymentId], () => ({
      paymentName,
      paymentAmount: 0,
      paymentMode,
      paymentCatalogId: paymentId,
    }));
    group.paymentAmount = plus(group.paymentAmount, paymentAmount);
  }
  return groups.all();
}

/** The drawer's movements other than sales, one entry each. */
export function entries(movements: TillV2["financialMovementList"]): ReportV2["reportEntries"] {
  return movements.map(({ id, amount, name, type, ...rest }) => ({
    entryCatalogId: id,
    entryAmount: amount,
    entryName: name,
    entryType: type,
    ...rest,
  }));
}
