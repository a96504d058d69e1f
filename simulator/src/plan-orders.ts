import type { SeededRandom } from "./random.ts";
import { type SpecialOrderRowCaseName, specialOrderRowCaseNames } from "./row-cases.ts";

/**
 * The share of orders with each special case in a till, from 0 to 1: with 0.02, about 6 of 300 orders have the case. Kinds
 * from `canceledOrder` to `trainingOrder` are shares of all orders, others of those in which the case is possible.
 */
export const defaultCaseShares = {
  takeout: 0.15,
  /** Orders of a delivery platform, as a share of the orders that are not takeout. */
  delivery: 0.08,
  /** Orders in a room with a guest count of 0. */
  noGuests: 0.06,
  /** Orders taken by a clerk who was not on shift. */
  offShift: 0.02,

  /** Canceled orders: without a bill, before or after the bill was printed, or after payment. */
  canceledOrder: 0.03,
  /** Orders that were transferred to a hotel's property management system. */
  transferredOrder: 0.02,
  /** Orders with only refunds. Their total is negative, and the refund is either paid out or still owed. */
  refundOrder: 0.01,
  /** Orders whose products are all free. Their total is 0, and they are closed manually. */
  giftedOrder: 0.01,
  trainingOrder: 0.01,

  menu: 0.2,
  modifier: 0.3,
  weight: 0.08,
  /** A product, or a set menu, that is split over several bills. */
  splitRow: 0.03,
  splitMenu: 0.02,
  /** A discount on one product, or on all. */
  discount: 0.05,
  groupDiscount: 0.03,
  /** A discount that is pending or was canceled. */
  unsettledDiscount: 0.015,
  gift: 0.03,
  /** A product that was canceled without a bill, or before or after the bill was printed. */
  canceledRow: 0.05,
  /** A set menu of which one product, or every product, was canceled. */
  canceledMenu: 0.015,
  /** A product that was transferred to another table. */
  transferredRow: 0.02,
  /** A lost product, in a menu or outside menus. */
  loss: 0.02,
  refundRow: 0.02,
  /** Orders of two tables that were merged. */
  mergedOrder: 0.03,

  partPayments: 0.2,
  /** A payment in cash with change. */
  change: 0.1,
  /** A tip, which is part of a payment or a separate row. */
  tip: 0.1,
  /** A charge to an account, a recorded debt, or a payment from a deposit. */
  account: 0.03,
  unsettledPayment: 0.02,
};

export type SimulatedOrderCaseShares = typeof defaultCaseShares;

const paymentCaseNames = ["partPayments", "change", "tip", "account", "unsettledPayment"] as const;

type OrderCase = SpecialOrderRowCaseName | (typeof paymentCaseNames)[number];

export interface SimulatedOrderPlan {
  serviceType: "eatin" | "takeout" | "delivery";
  countsGuests: boolean;
  /** Whether the clerk who takes the order is not on shift. */
  isOffShift: boolean;
  kind: "ordinary" | "canceled" | "transferred" | "refund" | "gifted" | "training";
  /** The index of the order among the orders of the same kind. It selects the variant of the kind. */
  kindIndex: number;
  /** The special cases of the order. The value is the index of the order among the orders with this case. */
  readonly cases: Map<OrderCase, number>;
}

/** Returns plans for `count` orders. The shares in `mix` determine the number of orders with each special case. */
export function planSimulatedOrders(random: SeededRandom, count: number, mix: SimulatedOrderCaseShares) {
  const ordinary = {
    serviceType: "eatin",
    countsGuests: true,
    isOffShift: false,
    kind: "ordinary",
    kindIndex: 0,
  } as const;
  const plans = Array.from({ length: count }, (): SimulatedOrderPlan => ({ ...ordinary, cases: new Map() }));
  const isOrdinary = ({ kind }: SimulatedOrderPlan) => kind === "ordinary";
  const assign = (share: number, isEligible: (plan: SimulatedOrderPlan) => boolean) => {
    const candidates = plans.filter(isEligible);
    // Ordinary orders are sampled separately, so that a rare case is not assigned only to other orders. Reports
    // exclude some of those, such as training orders.
    const others = candidates.filter((plan) => !isOrdinary(plan));
    return [candidates.filter(isOrdinary), others].flatMap((group) =>
      random.sample(group, random.quota(share * group.length)),
    );
  };

  for (const kind of ["canceled", "transferred", "refund", "gifted", "training"] as const) {
    const chosen = random.sample(plans.filter(isOrdinary), random.quota(mix[`${kind}Order`] * count));
    for (const [kindIndex, plan] of chosen.entries()) Object.assign(plan, { kind, kindIndex });
  }

  const eatsIn = ({ serviceType }: SimulatedOrderPlan) => serviceType === "eatin";
  for (const plan of assign(mix.takeout, eatsIn)) plan.serviceType = "takeout";
  for (const plan of assign(mix.delivery, eatsIn)) plan.serviceType = "delivery";
  for (const plan of assign(mix.noGuests, eatsIn)) plan.countsGuests = false;
  for (const plan of assign(mix.offShift, () => true)) plan.isOffShift = true;

  const hasOrdinaryRows = ({ kind }: SimulatedOrderPlan) => kind !== "refund" && kind !== "gifted";
  const canMerge = (plan: SimulatedOrderPlan) => eatsIn(plan) && isOrdinary(plan);
  const assignCase = (name: OrderCase, isEligible: (plan: SimulatedOrderPlan) => boolean) => {
    for (const [caseIndex, plan] of assign(mix[name], isEligible).entries()) plan.cases.set(name, caseIndex);
  };
  for (const name of specialOrderRowCaseNames) assignCase(name, name === "mergedOrder" ? canMerge : hasOrdinaryRows);
  for (const name of paymentCaseNames) assignCase(name, isOrdinary);
  return plans;
}
