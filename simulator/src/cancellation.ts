import { moment, type OrderTimes } from "./service-day.ts";

/** When something is canceled: what is canceled after the bill was printed is reported apart. */
export type Cancellation = (typeof cancellations)[number];

const cancellations = ["withoutBill", "beforeBill", "afterBill", "afterPayment"] as const;

/** Canceled orders take turns in when. */
export function orderCancellation(index: number): Cancellation {
  return cancellations[index % 4] as Cancellation;
}

/** Canceled rows take turns in when; a row is not canceled once it was paid. */
export function rowCancellation(index: number): Cancellation {
  return cancellations[index % 3] as Cancellation;
}

export function canceledAt(times: OrderTimes, cancellation: Cancellation): string {
  if (cancellation === "afterPayment") return times.closedAt;
  return times.at(cancellation === "afterBill" ? moment.afterBill : moment.beforeBill);
}

/** Why clerks cancel. */
export const cancelReasons = ["Erreur de saisie", "Rupture", "Client parti"] as const;
