import type { DayCheck, DayCheckFinding } from "@pragma/contracts/day";
import { formatAmount } from "./format-amount.ts";
import { cleanText, formatCount } from "./format-text.ts";

const maxShownFindings = 3;

/** Returns lines about the failed checks of a day, with their first findings, and a line about the others. */
export function describeChecks(checks: DayCheck[], currency: string | null): string[] {
  const failed = checks.filter(({ status }) => status === "failed");
  const unavailable = checks.filter(({ status }) => status === "unavailable");
  const passedCount = checks.length - failed.length - unavailable.length;
  return [
    `Checks: ${passedCount} passed, ${failed.length} failed, ${unavailable.length} not possible${unavailable.length > 0 ? ` (${unavailable.map(({ code }) => code).join(", ")})` : ""}`,
    ...failed.flatMap((check) => describeFailedCheck(check, currency)),
  ];
}

function describeFailedCheck(
  { code, meaning, difference, amounts, findings, findingCount }: DayCheck,
  currency: string | null,
): string[] {
  const compared = amounts.map(({ name, amount }) => `${name} ${formatAmount(amount, currency)}`).join(", ");
  const rest = findingCount - Math.min(findings.length, maxShownFindings);
  return [
    `Failed: ${code}${difference === null ? "" : `, difference ${formatAmount(difference, currency)}`}. This is not true: ${meaning}`,
    ...(compared === "" ? [] : [`  ${compared}`]),
    ...findings.slice(0, maxShownFindings).map((finding) => `  - ${describeFinding(finding, currency)}`),
    ...(rest > 0 ? [`  - ${formatCount(rest, "more finding")} left out`] : []),
  ];
}

function describeFinding(
  { tillId, otherTillId, orderId, paymentMode, taxRate, deviceIdentifier, ...finding }: DayCheckFinding,
  currency: string | null,
): string {
  const { firstReportNumber, lastReportNumber, difference } = finding;
  const numbers = firstReportNumber === lastReportNumber ? [firstReportNumber] : [firstReportNumber, lastReportNumber];
  return [
    ...(tillId ? [`till ${tillId}`] : []),
    ...(otherTillId ? [`other till ${otherTillId}`] : []),
    ...(orderId ? [`order ${orderId}`] : []),
    ...(paymentMode ? [`payment mode ${paymentMode}`] : []),
    ...(taxRate === null ? [] : [`tax rate ${taxRate / 100}%`]),
    ...(deviceIdentifier ? [`device ${cleanText(deviceIdentifier)}`] : []),
    ...(firstReportNumber === null ? [] : [`report number ${numbers.join(" to ")}`]),
    ...(difference === null ? [] : [`difference ${formatAmount(difference, currency)}`]),
  ].join(", ");
}
