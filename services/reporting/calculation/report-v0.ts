import { ReportV0 } from "@pragma/contracts/report-v0";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { z } from "zod";
import { groupDiscountsForReportV0 } from "./discounts.ts";
import { groupProductSalesV0 } from "./products.ts";
import type { ReportableOrder } from "./reportable-orders.ts";
import { toConversionOnlySchema } from "./unchecked-schema.ts";

const reportV0Schema = ReportV0.omit({ createdAt: true, updatedAt: true });
const uncheckedReportV0Schema = toConversionOnlySchema(reportV0Schema);

/** A V0 report without `createdAt` and `updatedAt`, which are added when the report is stored. */
type ReportV0WithoutTimestamps = z.output<typeof reportV0Schema>;

/**
 * Returns the V0 report. Unlike a V2 report, it has the data of the establishment in `reportHeaderInfo`, lists only the
 * ids of orders, and groups products and discounts by fewer properties.
 */
export function toReportV0(report: ReportV2, orders: ReportableOrder[]): ReportV0WithoutTimestamps {
  const rows = orders.flatMap((order) => order.rows);
  return uncheckedReportV0Schema.parse({
    ...report,
    reportHeaderInfo: {
      headerAddress: report.address1,
      headerSiret: report.siretCode,
      headerCity: report.city,
      headerCountry: report.country,
      headerNaf: report.nafCode,
      headerName: report.establishmentName,
      headerPhone: report.phoneNumber,
      headerText: report.customHeader,
      headerTva: report.tvaCode,
      headerUrl: report.website,
      headerZip: report.zipCode,
    },
    reportProducts: groupProductSalesV0(rows),
    reportDiscounts: groupDiscountsForReportV0(rows),
    orders: report.orders.map((order) => order.id),
  } satisfies z.input<typeof reportV0Schema>);
}
