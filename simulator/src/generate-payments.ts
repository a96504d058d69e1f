import { PaymentRow } from "@pragma/contracts/order-rows";
import { type OrderPlan, orderCancellation } from "./plan-orders.ts";
import type { OrderSetting } from "./product-row.ts";
import type { PaymentMethodName, Restaurant } from "./restaurant.ts";
import { moment } from "./service-day.ts";
import { splitByWeights } from "./split-rows.ts";

interface Bill {
  /** The operator of this setting is who collects the money. */
  setting: OrderSetting;
  plan: OrderPlan;
  /** The order's total, in minor units. */
  due: number;
  /** The delivery platform that takes the money, if any. */
  platform: "uberEats" | "deliveroo" | null;
  customerKey: string | null;
}

/** How one part of a bill is paid. */
interface Part {
  method: PaymentMethodName;
  type?: PaymentRow["paymentType"];
  hasChange?: boolean;
  hasTip?: boolean;
}

/** The payments of an order: those that settle add up to the amount due, unless one of them is still pending. */
export function generatePayments(bill: Bill): PaymentRow[] {
  const { plan, due } = bill;
  if (plan.fate === "refund") return plan.fateTurn % 2 === 0 ? [] : [pay(bill, { method: "cash" }, due)];
  if (plan.fate === "canceled" && orderCancellation(plan.fateTurn) !== "afterPayment") return [];
  if (plan.fate === "transferred" || due <= 0) return [];

  const parts = planParts(bill);
  const amounts = splitByWeights(due, Array(parts.length).fill(1));
  const paid = parts.map((part, index) => {
    const share = moment.afterBill + (moment.payment - moment.afterBill) * ((index + 1) / parts.length);
    return pay(bill, part, amounts[index] ?? 0, share);
  });
  return withUnsettled(bill, withTipRow(bill, paid));
}

/** Whether a payment takes something off what is left to pay. */
export function isSettling({ status, paymentType }: PaymentRow): boolean {
  return status === "validated" && (paymentType === "payment" || paymentType === "customerAccount");
}

function planParts({ setting: { random }, plan: { turns }, platform }: Bill): Part[] {
  const account = turns.get("account");
  const tip = turns.get("tip");
  const parts: Part[] = [];
  if (account !== undefined) parts.push(accountParts[account % accountParts.length] as Part);
  if (turns.has("change")) parts.push({ method: "cash", hasChange: true });
  if (tip !== undefined && tip % 2 === 0) parts.push({ method: "card", hasTip: true });
  const count = turns.has("partPayments") ? random.integer(2, 4) : 1;
  while (parts.length < count) parts.push({ method: platform ?? random.pickWeighted(usualMethods) });
  return parts;
}

/** A payment made at this share of the stay: guests who pay in parts do so one after the other. */
function pay({ setting, customerKey }: Bill, part: Part, amount: number, share: number = moment.payment): PaymentRow {
  const { random, restaurant, operator, times } = setting;
  const { cash, [part.method]: method } = restaurant.paymentMethods;
  const change = part.hasChange && {
    changeAmount: noteStep - (amount % noteStep),
    changePaymentName: cash.name,
    changePaymentMode: cash.mode,
    changePaymentId: cash.id,
  };
  return {
    ...paymentRow(random.uuid(), method, times.at(share), amount),
    ...change,
    paymentType: part.type ?? "payment",
    tipAmount: part.hasTip ? someTip(setting) : null,
    firebaseCustomerRefKey: part.method === "debt" ? customerKey : null,
    operatorId: operator.id,
    operatorName: operator.name,
  };
}

type Method = Restaurant["paymentMethods"][PaymentMethodName];

/** A validated payment of an amount in minor units at a date-time in UTC, without change or tip. */
export function paymentRow(id: string, method: Method, at: string, amount: number): PaymentRow {
  return PaymentRow.parse({
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

/** Tips take turns: on a card payment, or a row of their own. */
function withTipRow({ setting, plan }: Bill, paid: PaymentRow[]): PaymentRow[] {
  const [first] = paid;
  if (!first || (plan.turns.get("tip") ?? 0) % 2 === 0) return paid;
  const tip: PaymentRow = {
    ...first,
    ...withoutChange,
    id: setting.random.uuid(),
    recordedAt: setting.times.at(moment.payment),
    modifiedAt: setting.times.at(moment.payment),
    amount: someTip(setting),
    name: "Pourboire",
    paymentType: "tip",
  };
  return [...paid, tip];
}

/** Unsettled payments take turns: a terminal that never answered, a card that was refused, money still to come. */
function withUnsettled({ setting: { random, times }, plan }: Bill, paid: PaymentRow[]): PaymentRow[] {
  const turn = plan.turns.get("unsettledPayment");
  const [first] = paid;
  if (turn === undefined || !first) return paid;
  if (turn % 3 === 2) return [{ ...first, status: "pending" }, ...paid.slice(1)];
  const recordedAt = times.at(moment.afterBill);
  const failed: PaymentRow = {
    ...first,
    ...withoutChange,
    id: random.uuid(),
    status: turn % 3 === 0 ? "pending" : "cancelled",
    recordedAt,
    modifiedAt: turn % 3 === 0 ? recordedAt : times.at(moment.refusal),
  };
  return [failed, ...paid];
}

function someTip({ random }: OrderSetting): number {
  return random.pick([100, 150, 200, 300, 500]);
}

const accountParts: readonly Part[] = [
  { method: "debt", type: "customerAccount" },
  { method: "debt" },
  { method: "deposit" },
];

/** Guests who pay in cash give at least the next multiple of this: the smallest note. */
const noteStep = 500;

const withoutChange = {
  changeAmount: 0,
  changePaymentName: null,
  changePaymentMode: null,
  changePaymentId: null,
  tipAmount: null,
};

const usualMethods: readonly (readonly [PaymentMethodName, number])[] = [
  ["card", 45],
  ["contactless", 20],
  ["cash", 15],
  ["mealVoucher", 12],
  ["check", 3],
  ["amex", 3],
  ["creditNote", 2],
];
