import type { EReportCheck } from "@pragma/contracts/e-report-check";
import type { EReportFile } from "./e-report-file.ts";
import { type EReportCheckContext, eReportRules } from "./e-report-rules.ts";

const maxFindings = 20;

/** Checks a file against each rule, and returns the results in the sequence of the rules' numbers. */
export function checkEReport(file: EReportFile, context: EReportCheckContext): EReportCheck[] {
  return eReportRules.map(({ rule, description, check }) => {
    if (!check) return { rule, description, result: "not_checked", checked: 0, difference: null, findings: [] };
    const { checked, findings, difference = null } = check(file, context);
    const result = findings.length > 0 ? "failed" : checked > 0 ? "passed" : "not_applicable";
    return { rule, description, result, checked, difference, findings: findings.slice(0, maxFindings) };
  });
}
