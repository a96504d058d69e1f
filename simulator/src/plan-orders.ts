import type { SeededRandom } from "./random.ts";
import { type SpecialRowCase, specialRowCaseNames } from "./row-cases.ts";

/**
 * The frequency of each special case in the till of an ordinary day. A weight is the share of eligible orders that show
 * the case, 0 to 1. Shares are exact, not probabilities: of 300 orders, 0.02 gives six. Shares of whole orders
 * (canceled to training) refer to all orders; if their sum exceeds 1, the later ones get the remaining orders.
 */
export const defaultOrderCaseShares = {
  /** Orders fetched at the counter. */
  takeout: 0.15,
  /** Orders of a delivery platform, among those not fetched at the counter. */
  delivery: 0.08,
  /** Orders taken in a room without counting the guests. */
  noGuests: 0.06,
  /** Orders taken by a clerk who was not on shift. */
  offShift: 0.02,

  /** Canceled as a whole: without a bill, before it, after it, and after it was paid. */
  canceledOrder: 0.03,
  /** Moved to a hotel's system as a whole. */
  transferredOrder: 0.02,
  /** Nothing but returns: a negative total, left open or paid back. */
  refundOrder: 0.01,
  /** Everything given away: a total of zero, closed by hand. */
  giftedOrder: 0.01,
  /** Taken in training mode. */
  trainingOrder: 0.01,

  /** Orders with one to three set menus. */
  menu: 0.2,
  /** A product with choices, free and paid ones. */
  modifier: 0.3,
  /** A product sold by weight. */
  weight: 0.08,
  /** A product split over several bills. */
  splitRow: 0.03,
  /** A set menu split over several bills. */
  splitMenu: 0.02,
  /** A discount on one product. */
  discount: 0.05,
  /** A discount over every product of the order. */
  groupDiscount: 0.03,
  /** A discount that is pending or was cancelled. */
  unsettledDiscount: 0.015,
  /** A product given away. */
  gift: 0.03,
  /** A product canceled: without a bill, before it, after it. */
  canceledRow: 0.05,
  /** A set menu of which one product, or every product, was canceled. */
  canceledMenu: 0.015,
  /** A product moved to another table. */
  transferredRow: 0.02,
  /** A product lost, alone or in a menu. */
  loss: 0.02,
  /** A product taken back. */
  refundRow: 0.02,
  /** Two tables put together. */
  mergedOrder: 0.03,

  /** Paid in two to four parts. */
  partPayments: 0.2,
  /** Paid in cash, with change. */
  change: 0.1,
  /** With a tip, as part of a payment or as a row of its own. */
  tip: 0.1,
  /** Put on an account, as a debt, or settled by a deposit. */
  account: 0.03,
  /** With a payment that is pending or was cancelled. */
  unsettledPayment: 0.02,
};

export type OrderCaseShares = typeof defaultOrderCaseShares;

type OrderKind = "ordinary" | "canceled" | "transferred" | "refund" | "gifted" | "training";
type Service = "eatin" | "takeout" | "delivery";

const paymentCaseNames = ["partPayments", "change", "tip", "account", "unsettledPayment"] as const;

type OrderCase = SpecialRowCase | (typeof paymentCaseNames)[number];

/** The special cases of one order. */
export interface OrderPlan {
  service: Service;
  countsGuests: boolean;
  /** Whether the clerk who takes the order is not on shift. */
  isOffShift: boolean;
  kind: OrderKind;
  /** Index among the orders of the same kind, which selects the variant of the kind. */
  kindIndex: number;
  /** The cases of the order, each with the index among the orders with this case. */
  readonly cases: Map<OrderCase, number>;
}

/** Returns plans for `count` orders with the special cases of a mix, as often as their weights define. */
export function planOrders(random: SeededRandom, count: number, mix: OrderCaseShares): OrderPlan[] {
  const ordinary = { service: "eatin", countsGuests: true, isOffShift: false, kind: "ordinary", kindIndex: 0 } as const;
  const plans = Array.from({ length: count }, (): OrderPlan => ({ ...ordinary, cases: new Map() }));
  const isOrdinary = ({ kind }: OrderPlan) => kind === "ordinary";
  const assign = (share: number, isEligible: (plan: OrderPlan) => boolean) => {
    const candidates = plans.filter(isEligible);
    // Sampled separately, so that a rare case does not only hit orders that reports ignore.
    const others = candidates.filter((plan) => !isOrdinary(plan));
    return [candidates.filter(isOrdinary), others].flatMap((group) =>
      random.sample(group, random.quota(share * group.length)),
    );
  };

  for (const kind of ["canceled", "transferred", "refund", "gifted", "training"] as const) {
    const chosen = random.sample(plans.filter(isOrdinary), random.quota(mix[`${kind}Order`] * count));
    for (const [kindIndex, plan] of chosen.entries()) Object.assign(plan, { kind, kindIndex });
  }

  const eatsIn = ({ service }: OrderPlan) => service === "eatin";
  for (const plan of assign(mix.takeout, eatsIn)) plan.service = "takeout";
  for (const plan of assign(mix.delivery, eatsIn)) plan.service = "delivery";
  for (const plan of assign(mix.noGuests, eatsIn)) plan.countsGuests = false;
  for (const plan of assign(mix.offShift, () => true)) plan.isOffShift = true;

  const hasOrdinaryRows = ({ kind }: OrderPlan) => kind !== "refund" && kind !== "gifted";
  const canMerge = (plan: OrderPlan) => eatsIn(plan) && isOrdinary(plan);
  const assignCase = (name: OrderCase, isEligible: (plan: OrderPlan) => boolean) => {
    for (const [caseIndex, plan] of assign(mix[name], isEligible).entries()) plan.cases.set(name, caseIndex);
  };
  for (const name of specialRowCaseNames) assignCase(name, name === "mergedOrder" ? canMerge : hasOrdinaryRows);
  for (const name of paymentCaseNames) assignCase(name, isOrdinary);
  return plans;
}
