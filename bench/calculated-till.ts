import type { TillDocuments } from "@pragma/reporting/calculate-till";
import { type CalculatedTill, generateOrderTexts, toCalculatedReport } from "@pragma/reporting/calculation-thread";

/** Returns the report and orders of a new till as the thread that calculates tills sends them. */
export function toCalculatedTill(till: TillDocuments): CalculatedTill {
  const options = { calculatedAt: new Date().toISOString(), creationTimes: new Map<string, string>() };
  const orderTexts = [...generateOrderTexts(till, options)].map((texts) => Promise.resolve(texts));
  return { ...toCalculatedReport(till, options), orderTexts };
}
