import type { RequestIssue } from "@pragma/contracts/errors";

/** The issues of an invalid body. */
export interface RequestBodyIssues {
  /** The first issues. */
  issues: RequestIssue[];
  /** The number of all issues. */
  count: number;
}
