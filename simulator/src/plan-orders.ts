import type { Random } from "./random.ts";
import type { TillMix } from "./till-mix.ts";

export type Fate = "ordinary" | "canceled" | "transferred" | "refund" | "gifted" | "training";
export type Service = "eatin" | "takeout" | "delivery";

/** Cases that show in an order's rows, in the order in which they are played. */
export const rowCases = [
  "modifier",
  "weight",
  "menu",
  "splitMenu",
  "splitRow",
  "groupDiscount",
  "discount",
  "unsettledDiscount",
  "gift",
  "canceledRow",
  "canceledMenu",
  "transferredRow",
  "loss",
  "refundRow",
  "mergedOrder",
] as const;

const paymentCases = ["partPayments", "change", "tip", "account", "unsettledPayment"] as const;

export type RowCase = (typeof rowCases)[number];
type Case = RowCase | (typeof paymentCases)[number];

/** What is to be special about one order. */
export interface OrderPlan {
  service: Service;
  countsGuests: boolean;
  /** Whether the clerk who takes it is not on shift. */
  isOffShift: boolean;
  fate: Fate;
  /** Counts the orders of the same fate, so that they can take turns in how they show it. */
  fateTurn: number;
  /** For each case that the order shows, how many orders of the till showed it before. */
  readonly turns: Map<Case, number>;
}

/** Deals the cases of a mix out over `count` orders. */
export function planOrders(random: Random, count: number, mix: TillMix): OrderPlan[] {
  const plans = Array.from(
    { length: count },
    (): OrderPlan => ({
      service: "eatin",
      countsGuests: true,
      isOffShift: false,
      fate: "ordinary",
      fateTurn: 0,
      turns: new Map(),
    }),
  );
  const isOrdinary = ({ fate }: OrderPlan) => fate === "ordinary";
  const deal = (share: number, among: (plan: OrderPlan) => boolean) => {
    const candidates = plans.filter(among);
    // Apart, so that what few orders show is not all dealt to orders that do not count.
    const others = candidates.filter((plan) => !isOrdinary(plan));
    return [candidates.filter(isOrdinary), others].flatMap((some) =>
      random.sample(some, random.quota(share * some.length)),
    );
  };

  const fates = [
    ["canceled", mix.canceledOrder],
    ["transferred", mix.transferredOrder],
    ["refund", mix.refundOrder],
    ["gifted", mix.giftedOrder],
    ["training", mix.trainingOrder],
  ] as const;
  for (const [fate, share] of fates) {
    const dealt = random.sample(plans.filter(isOrdinary), random.quota(share * count));
    for (const [turn, plan] of dealt.entries()) {
      plan.fate = fate;
      plan.fateTurn = turn;
    }
  }

  const eatsIn = ({ service }: OrderPlan) => service === "eatin";
  for (const plan of deal(mix.takeout, eatsIn)) plan.service = "takeout";
  for (const plan of deal(mix.delivery, eatsIn)) plan.service = "delivery";
  for (const plan of deal(mix.noGuests, eatsIn)) plan.countsGuests = false;
  for (const plan of deal(mix.offShift, () => true)) plan.isOffShift = true;

  const hasOrdinaryRows = ({ fate }: OrderPlan) => fate !== "refund" && fate !== "gifted";
  const canMerge = (plan: OrderPlan) => eatsIn(plan) && isOrdinary(plan);
  const dealCase = (name: Case, among: (plan: OrderPlan) => boolean) => {
    for (const [turn, plan] of deal(mix[name], among).entries()) plan.turns.set(name, turn);
  };
  for (const name of rowCases) dealCase(name, name === "mergedOrder" ? canMerge : hasOrdinaryRows);
  for (const name of paymentCases) dealCase(name, isOrdinary);
  return plans;
}
