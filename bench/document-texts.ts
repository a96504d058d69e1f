import { type DocumentTexts, generateOrderTexts, toCalculatedReport } from "@pragma/reporting/calculate-stored-till";
import type { SerializedDocuments } from "@pragma/reporting/calculate-till";

/** Returns the report and orders of a new till as the thread that calculates tills sends them. */
export function toDocumentTexts(till: SerializedDocuments): DocumentTexts {
  const options = { calculatedAt: new Date().toISOString(), creationTimes: new Map<string, string>() };
  const orderTexts = [...generateOrderTexts(till, options)].map((texts) => Promise.resolve(texts));
  return { ...toCalculatedReport(till, options), orderTexts };
}
