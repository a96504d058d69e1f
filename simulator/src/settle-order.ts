import type { OrderData } from "@pragma/contracts/order-data";
import { Random } from "./random.ts";
import type { Restaurant } from "./restaurant.ts";

/**
 * An order that was left open, as it is once somebody has taken what is left to pay, by this method at this time (a
 * date-time in UTC). One that is closed already stays as it is.
 */
export function settleOrder(order: OrderData, method: Restaurant["paymentMethods"]["card"], at: string): OrderData {
  if (order.closedAt !== null) return order;
  const isDone = order.isPaid || order.isCanceled || order.isTransferred;
  const isDue = !isDone && order.leftToPay > 0;
  const random = new Random(`settle/${order.id}`);
  return {
    ...order,
    revisionHash: random.uuid(),
    modifiedAt: at,
    closedAt: at,
    signature: random.hex(64),
    ...(isDue && {
      isPaid: true,
      paidAt: at,
      leftToPay: 0,
      paymentRowList: [...order.paymentRowList, paymentOf(order, { id: random.uuid(), method, at })],
    }),
    manuallyClosed: !isDone && !isDue,
  };
}

function paymentOf(
  order: OrderData,
  { id, method, at }: { id: string; method: Restaurant["paymentMethods"]["card"]; at: string },
) {
  return {
    id,
    recordedAt: at,
    modifiedAt: at,
    amount: order.leftToPay,
    changeAmount: 0,
    changePaymentName: null,
    changePaymentMode: null,
    lastProofOfPaymentAmount: null,
    totalProofOfPaymentAmount: 0,
    status: "validated",
    name: method.name,
    paymentType: "payment",
    paymentMode: method.mode,
    paymentId: method.id,
    changePaymentId: null,
    tipAmount: null,
    externalServiceId: null,
    currencyCode: "EUR",
    sellerCardReceipt: null,
    buyerCardReceipt: null,
    firebaseCustomerRefKey: null,
    operatorId: order.operatorId,
    operatorName: order.operatorName,
    paymentProtocol: method.protocol,
  } as const;
}
