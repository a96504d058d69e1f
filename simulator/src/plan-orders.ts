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
type PaymentCase = (typeof paymentCases)[number];

/** What is to be special about one order. */
export interface OrderPlan {
  readonly service: Service;
  readonly countsGuests: boolean;
  /** Whether the clerk who takes it is not on shift. */
  readonly isOffShift: boolean;
  readonly fate: Fate;
  /** Counts the orders of the same fate, so that they can take turns in how they show it. */
  readonly fateTurn: number;
  /** For each case that the order shows, how many orders of the till showed it before. */
  readonly turns: ReadonlyMap<RowCase | PaymentCase, number>;
}

type Draft = { -readonly [Key in keyof OrderPlan]: OrderPlan[Key] } & { turns: Map<RowCase | PaymentCase, number> };

/** Deals the cases of a mix out over `count` orders. */
export function planOrders(random: Random, count: number, mix: TillMix): OrderPlan[] {
  const plans = Array.from(
    { length: count },
    (): Draft => ({
      service: "eatin",
      countsGuests: true,
      isOffShift: false,
      fate: "ordinary",
      fateTurn: 0,
      turns: new Map(),
    }),
  );
  const deal = (share: number, among: (plan: Draft) => boolean, give: (plan: Draft, turn: number) => void) => {
    const candidates = plans.filter(among);
    // Apart, so that what few orders show is not all dealt to orders that do not count.
    const ordinary = candidates.filter(({ fate }) => fate === "ordinary");
    const others = candidates.filter(({ fate }) => fate !== "ordinary");
    const dealt = [ordinary, others].flatMap((some) => random.sample(some, random.quota(share * some.length)));
    dealt.forEach(give);
  };
  const dealFates = (share: number, fate: Fate) => {
    const untouched = plans.filter((plan) => plan.fate === "ordinary");
    for (const [turn, plan] of random.sample(untouched, random.quota(share * count)).entries()) {
      plan.fate = fate;
      plan.fateTurn = turn;
    }
  };

  dealFates(mix.canceledOrder, "canceled");
  dealFates(mix.transferredOrder, "transferred");
  dealFates(mix.refundOrder, "refund");
  dealFates(mix.giftedOrder, "gifted");
  dealFates(mix.trainingOrder, "training");

  const eatsIn = (plan: Draft) => plan.service === "eatin";
  const setService = (service: Service) => (plan: Draft) => {
    plan.service = service;
  };
  deal(mix.takeout, eatsIn, setService("takeout"));
  deal(mix.delivery, eatsIn, setService("delivery"));
  deal(mix.noGuests, eatsIn, (plan) => {
    plan.countsGuests = false;
  });

  const isAny = () => true;
  deal(mix.offShift, isAny, (plan) => {
    plan.isOffShift = true;
  });

  const hasOrdinaryRows = ({ fate }: Draft) => fate !== "refund" && fate !== "gifted";
  for (const name of rowCases) {
    const among = name === "mergedOrder" ? (plan: Draft) => eatsIn(plan) && plan.fate === "ordinary" : hasOrdinaryRows;
    deal(mix[name], among, (plan, turn) => plan.turns.set(name, turn));
  }
  for (const name of paymentCases) {
    deal(
      mix[name],
      ({ fate }) => fate === "ordinary",
      (plan, turn) => plan.turns.set(name, turn),
    );
  }
  return plans;
}
