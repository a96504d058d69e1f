import type { ApiSchemaTypes } from "@pragma/client";
import { z } from "zod";
import { formatAmount, pickFields, type Units } from "./format-text.ts";
import { type Row, rowsSchema } from "./rows.ts";

type Day = ApiSchemaTypes["Day"];
type DayCheck = Day["reconciliation"][number];

const maxShownFindings = 3;

/** The checks of a day in an answer. */
export const checksSchema = z.object({ passed: z.int(), notPossible: z.string(), failed: rowsSchema });

export const listFailedChecks = ({ reconciliation }: Day) => reconciliation.filter(({ status }) => status === "failed");

/** Returns the failed checks of a day with their first findings, and which others passed or were not possible. */
export function describeChecks(day: Day, units: Units): z.infer<typeof checksSchema> {
  const codesOf = (wanted: DayCheck["status"]) =>
    day.reconciliation.filter(({ status }) => status === wanted).map(({ code }) => code);
  return {
    passed: codesOf("passed").length,
    notPossible: codesOf("unavailable").join(" ") || "none",
    failed: listFailedChecks(day).map((check) => describeFailedCheck(check, units)),
  };
}

function describeFailedCheck(check: DayCheck, units: Units): Row {
  const findings = check.findings.slice(0, maxShownFindings).map((finding) => {
    const values = ["tillId", "otherTillId", "orderId", "paymentMode", "movementType"] as const;
    const reportNumbers = ["firstReportNumber", "lastReportNumber", "taxRate"] as const;
    const fields = pickFields(finding, { values: [...values, ...reportNumbers], amounts: ["difference"] }, units);
    return Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : `${name} ${value}`));
  });
  return {
    ...pickFields(check, { values: ["code", "findingCount"], amounts: ["difference"] }, units),
    notTrue: check.meaning,
    amounts: check.amounts.map(({ name, amount }) => `${name} ${formatAmount(amount, units.currency)}`).join(", "),
    findings: findings.map((finding) => finding.join(", ")).join("; "),
  };
}
