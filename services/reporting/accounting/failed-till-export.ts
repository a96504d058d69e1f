import type { TillAccountingExportFailure } from "@pragma/contracts/accounting-export";

/** The reason why a till cannot be exported. */
export interface FailedTillAccountingExport {
  /** The export adds the day and the number of the report. */
  failure: Omit<TillAccountingExportFailure, "day" | "reportNumber">;
}

export function buildFailedTillAccountingExport(
  code: TillAccountingExportFailure["code"],
  message: string,
  gaps: TillAccountingExportFailure["gaps"] = [],
): FailedTillAccountingExport {
  return { failure: { code, message, gaps } };
}
