import type { RequestIssue } from "@pragma/contracts/errors";

/** The validation issues found in a request body. */
export interface RequestBodyIssues {
  /** The issues that were found first. Only a limited number is stored, so `count` can be higher. */
  issues: RequestIssue[];
  count: number;
}
