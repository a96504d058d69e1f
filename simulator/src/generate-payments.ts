import { PosOrderPaymentRow } from "@pragma/contracts/order-rows";
import { guestStayShareByOrderEvent, pickCancellationTiming } from "./order-times.ts";
import type { SimulatedOrderPlan } from "./plan-orders.ts";
import type { OrderGenerationContext } from "./product-row.ts";
import type { GeneratedRestaurant, SimulatedPaymentMethodName } from "./restaurant.ts";
import { splitAmountByWeights } from "./split-rows.ts";

/** The bill of an order. Its `operator` is the clerk who collects the payments. */
interface Bill extends OrderGenerationContext {
  plan: SimulatedOrderPlan;
  due: number;
  /** The delivery platform that collects the payment; "unknown" for orders without a delivery platform. */
  channel: "uberEats" | "deliveroo" | "unknown";
  customerKey: string | null;
}

interface PaymentPart {
  method: SimulatedPaymentMethodName;
  type?: PosOrderPaymentRow["paymentType"];
  hasChange?: boolean;
  hasTip?: boolean;
}

/**
 * Returns the payments of an order. Refunds and canceled orders may have none, and transferred orders have none. In all
 * other orders, the settled payments without tips add up to the amount due, unless a payment is pending.
 */
export function generatePayments(bill: Bill): PosOrderPaymentRow[] {
  const { plan, due } = bill;
  const { afterBill, payment } = guestStayShareByOrderEvent;
  if (plan.kind === "refund")
    return plan.kindIndex % 2 === 0 ? [] : [createPayment(bill, { method: "cash" }, due, payment)];
  if (plan.kind === "canceled" && pickCancellationTiming("order", plan.kindIndex) !== "afterPayment") return [];
  if (plan.kind === "transferred" || due <= 0) return [];

  const parts = planPaymentParts(bill);
  const amounts = splitAmountByWeights(due, Array(parts.length).fill(1));
  const paid = parts.map((part, index) => {
    const share = afterBill + (payment - afterBill) * ((index + 1) / parts.length);
    return createPayment(bill, part, amounts[index] ?? 0, share);
  });
  return addUnsettledPayments(bill, addTipRow(bill, paid));
}

export function isDeductedPayment({ status, paymentType }: PosOrderPaymentRow): boolean {
  return status === "validated" && (paymentType === "payment" || paymentType === "customerAccount");
}

function planPaymentParts({ random, plan: { cases }, channel }: Bill): PaymentPart[] {
  const account = cases.get("account");
  const tip = cases.get("tip");
  const parts: PaymentPart[] = [];
  if (account !== undefined) parts.push(customerAccountParts[account % customerAccountParts.length] as PaymentPart);
  if (cases.has("change")) parts.push({ method: "cash", hasChange: true });
  if (tip !== undefined && tip % 2 === 0) parts.push({ method: "card", hasTip: true });
  const count = cases.has("partPayments") ? random.integer(2, 4) : 1;
  while (parts.length < count)
    parts.push({ method: channel === "unknown" ? random.pickWeighted(usualPaymentMethods) : channel });
  return parts;
}

/** `share` is the time as a share of the stay. Guests who split a bill pay at different times. */
function createPayment(bill: Bill, part: PaymentPart, amount: number, share: number): PosOrderPaymentRow {
  const { random, restaurant, operator, times, customerKey } = bill;
  const { cash, [part.method]: method } = restaurant.paymentMethods;
  const change = part.hasChange && {
    changeAmount: smallestBanknote - (amount % smallestBanknote),
    changePaymentName: cash.name,
    changePaymentMode: cash.mode,
    changePaymentId: cash.id,
  };
  return {
    ...createPaymentRow(random.uuid(), method, times.at(share), amount),
    ...change,
    paymentType: part.type ?? "payment",
    tipAmount: part.hasTip ? randomTip(bill) : null,
    firebaseCustomerRefKey: part.method === "debt" ? customerKey : null,
    operatorId: operator.id,
    operatorName: operator.name,
  };
}

type Method = GeneratedRestaurant["paymentMethods"][SimulatedPaymentMethodName];

/** Returns a validated payment without change or tip. `at` is a date-time in UTC. `amount` is in minor units. */
export function createPaymentRow(id: string, method: Method, at: string, amount: number): PosOrderPaymentRow {
  return PosOrderPaymentRow.parse({
    id,
    recordedAt: at,
    modifiedAt: at,
    amount,
    changeAmount: 0,
    totalProofOfPaymentAmount: 0,
    status: "validated",
    name: method.name,
    paymentType: "payment",
    paymentMode: method.mode,
    paymentId: method.id,
    currencyCode: "EUR",
    paymentProtocol: method.protocol,
  });
}

/** Adds a tip to every second order with one. In the other orders, the tip is part of a card payment. */
function addTipRow(bill: Bill, paid: PosOrderPaymentRow[]): PosOrderPaymentRow[] {
  const [first] = paid;
  if (!first || (bill.plan.cases.get("tip") ?? 0) % 2 === 0) return paid;
  const at = bill.times.at(guestStayShareByOrderEvent.payment);
  const [id, amount] = [bill.random.uuid(), randomTip(bill)];
  const tip = { ...first, ...noChange, id, recordedAt: at, modifiedAt: at, amount, name: "Pourboire" };
  return [...paid, { ...tip, paymentType: "tip" }];
}

/** By turns, adds a payment without a terminal response or with a declined card, or makes the first one pending. */
function addUnsettledPayments({ random, times, plan }: Bill, paid: PosOrderPaymentRow[]): PosOrderPaymentRow[] {
  const caseIndex = plan.cases.get("unsettledPayment");
  const [first] = paid;
  if (caseIndex === undefined || !first) return paid;
  if (caseIndex % 3 === 2) return [{ ...first, status: "pending" }, ...paid.slice(1)];
  const recordedAt = times.at(guestStayShareByOrderEvent.afterBill);
  const modifiedAt = caseIndex % 3 === 0 ? recordedAt : times.at(guestStayShareByOrderEvent.refusal);
  const status = caseIndex % 3 === 0 ? "pending" : "cancelled";
  return [{ ...first, ...noChange, id: random.uuid(), status, recordedAt, modifiedAt }, ...paid];
}

const randomTip = ({ random }: Bill) => random.pick([100, 150, 200, 300, 500]);

const customerAccountParts: readonly PaymentPart[] = [
  { method: "debt", type: "customerAccount" },
  { method: "debt" },
  { method: "deposit" },
];

/** The value of the smallest banknote, in minor units. Guests pay a multiple of this value in cash, and get change. */
const smallestBanknote = 500;

const noChange = {
  changeAmount: 0,
  changePaymentName: null,
  changePaymentMode: null,
  changePaymentId: null,
  tipAmount: null,
};

const usualPaymentMethods: readonly (readonly [SimulatedPaymentMethodName, number])[] = [
  ["card", 45],
  ["contactless", 20],
  ["cash", 15],
  ["mealVoucher", 12],
  ["check", 3],
  ["amex", 3],
  ["creditNote", 2],
];
