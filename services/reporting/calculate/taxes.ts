import { hundredths, plus } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { CountedRow } from "./counting.ts";
import { Groups } from "./groups.ts";

type Tax = ReportV2["reportTaxes"][number];

/** Sales by tax name and rate. The catalogue id is that of the group's first row. */
export function taxes(rows: CountedRow[]): Tax[] {
  const groups = new Groups<Tax>();
  for (const { row } of rows) {
    const taxRate = hundredths(row.taxRate);
    const group = groups.of([row.taxName, taxRate], () => ({
      taxName: row.taxName,
      taxRate,
      taxAmount: 0,
      taxableAmount: 0,
      taxCatalogId: row.taxId,
    }));
    group.taxAmount = plus(group.taxAmount, row.taxAmount);
    group.taxableAmount = plus(group.taxableAmount, row.taxableAmount);
  }
  return groups.all();
}
