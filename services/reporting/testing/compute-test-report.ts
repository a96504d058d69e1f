import type { TillV2Input } from "@pragma/contracts/till-v2";
import { type ComputedDocuments, computeDocuments } from "../calculation/compute-report.ts";
import { buildTestTill } from "./till-fixtures.ts";

/** Returns the report and orders of a till that contains these orders. */
export function computeTestTillReport(
  orders: TillV2Input["orderList"],
  fields: Partial<TillV2Input> = {},
): ComputedDocuments {
  const report = computeDocuments(buildTestTill(orders, fields), {
    locationId: "7d0c1c1e-4f6f-4c8b-9c53-0f8f4c1f9a11",
  });
  if (!report) throw new Error("A till in training mode has no report.");
  return report;
}
