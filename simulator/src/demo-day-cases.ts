import { type SandboxProblem, sandboxProblemDescriptions } from "@pragma/contracts/sandbox";
import type { GeneratedTill } from "./generate-till.ts";

const dayMs = 24 * 60 * 60 * 1000;

export const demoDayCount = 30;

/** What can be wrong with the till of a demo day: the check that fails, and the change of a correct till. */
const demoDayCases = {
  cash_difference: {
    check: "cash",
    apply: (till: GeneratedTill) => ({ ...till, finalCashBalance: (till.finalCashBalance ?? 0) + 500 }),
  },
  missing_shift: {
    check: "report_number_gaps",
    apply: (till: GeneratedTill) => ({ ...till, reportNumber: till.reportNumber + 1 }),
  },
  unbalanced_till: {
    check: "sales",
    apply: (till: GeneratedTill) => ({ ...till, ...removePayments(till) }),
  },
} as const satisfies Record<SandboxProblem, object>;

const missingShiftCycle = 15;

/**
 * The problems by the day of a cycle of thirty days. A missing shift cannot be detected on the oldest day, to which no day
 * is compared, so there are two.
 */
const problemByDayOfCycle: Record<number, SandboxProblem> = {
  4: "cash_difference",
  14: "missing_shift",
  24: "unbalanced_till",
  29: "missing_shift",
};

const countDaysSince2024 = (day: string) => (Date.parse(day) - Date.parse("2024-01-01")) / dayMs;

/** Returns what is wrong with the till of a day, or undefined. 26 of 30 days are correct. */
export function findDemoDayProblem(day: string): SandboxProblem | undefined {
  return problemByDayOfCycle[countDaysSince2024(day) % demoDayCount];
}

/** Returns the name of a problem, the check that fails because of it, and what is wrong, in one sentence. */
export const describeDemoDayProblem = (name: SandboxProblem) => ({
  name,
  description: `${sandboxProblemDescriptions[name]}.`,
  check: demoDayCases[name].check,
});

/** Returns a correct till with a problem. */
export function breakDemoTill(till: GeneratedTill, problem: SandboxProblem): GeneratedTill {
  return demoDayCases[problem].apply(till);
}

/** Returns the report number of a day's correct till: one more for each day, and one more for each earlier missing shift. */
export function getDemoReportNumber(day: string): number {
  const days = countDaysSince2024(day);
  return days + Math.floor(days / missingShiftCycle);
}

/** Removes the payments of the first paid order with exactly one payment that is not a tip, and what was declared. */
function removePayments(till: GeneratedTill): Pick<GeneratedTill, "orderList" | "declaredPaymentList"> {
  const unpaid = till.orderList.find(
    ({ isPaid, isCanceled, isTransferred, isTraining, paymentRowList: [payment, ...others] }) =>
      isPaid &&
      !(isCanceled || isTransferred || isTraining) &&
      payment?.paymentMode === "card" &&
      payment.paymentType === "payment" &&
      payment.status === "validated" &&
      others.length === 0,
  );
  const [payment] = unpaid?.paymentRowList ?? [];
  if (!payment) throw new Error("The till has no order that was paid with one card.");
  return {
    orderList: till.orderList.map((order) =>
      order === unpaid ? { ...order, paymentRowList: [], leftToPay: 0 } : order,
    ),
    declaredPaymentList: till.declaredPaymentList.map((declared) =>
      declared.paymentId === payment.paymentId
        ? { ...declared, paymentAmount: declared.paymentAmount - payment.amount }
        : declared,
    ),
  };
}
