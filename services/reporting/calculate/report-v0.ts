import { ReportV0 } from "@pragma/contracts/report-v0";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { z } from "zod";
import { withoutChecks } from "../without-checks.ts";
import type { CountedOrder } from "./counting.ts";
import { discountsV0 } from "./discounts.ts";
import { productsV0 } from "./products.ts";

const unstored = ReportV0.omit({ createdAt: true, updatedAt: true });
/** Its fields of a report that has more. */
const unstoredOf = withoutChecks(unstored);

/** A report in its first shape, as it is known before it is stored. */
export type UnstoredReportV0 = z.output<typeof unstored>;

/** The report in its first shape: the same figures under older names, with products and discounts grouped more coarsely. */
export function reportV0(report: ReportV2, orders: CountedOrder[]): UnstoredReportV0 {
  const rows = orders.flatMap((counted) => counted.rows);
  return unstoredOf.parse({
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
    reportProducts: productsV0(rows),
    reportDiscounts: discountsV0(rows),
    orders: report.orders.map((order) => order.id),
  } satisfies z.input<typeof unstored>);
}
