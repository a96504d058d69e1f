import type { ReportV0 } from "@pragma/contracts/report-v0";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { CountedOrder } from "./counting.ts";
import { discountsV0 } from "./discounts.ts";
import { productsV0 } from "./products.ts";

/** A report in its first shape, as it is known before it is stored. */
export type UnstoredReportV0 = Omit<ReportV0, "createdAt" | "updatedAt">;

/** The report in its first shape: the same figures under older names, with products and discounts grouped more coarsely. */
export function reportV0(report: ReportV2, orders: CountedOrder[]): UnstoredReportV0 {
  const rows = orders.flatMap((counted) => counted.rows);
  return {
    id: report.id,
    locationId: report.locationId,
    startedAt: report.startedAt,
    finalizedAt: report.finalizedAt,
    deviceName: report.deviceName,
    deviceIdentifier: report.deviceIdentifier,
    reportNumber: report.reportNumber,
    guestsNumber: report.guestsNumber,
    totalSales: report.totalSales,
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
    reportClerksShift: report.reportClerksShift.map(({ id, clockInDate, clockOutDate, name }) => ({
      id,
      clockInDate,
      clockOutDate,
      name,
    })),
    clerkName: report.clerkName,
    clerkId: report.clerkId,
    reportDiscounts: discountsV0(rows),
    reportTaxes: report.reportTaxes,
    reportPayments: report.reportPayments.map(({ paymentName, paymentAmount, paymentCatalogId }) => ({
      paymentName,
      paymentAmount,
      paymentCatalogId,
    })),
    reportEntries: report.reportEntries.map(({ entryName, entryAmount, entryType, entryCatalogId }) => ({
      entryName,
      entryAmount,
      entryType,
      entryCatalogId,
    })),
    initialCashBalance: report.initialCashBalance,
    finalCashBalance: report.finalCashBalance,
    orders: report.orders.map((order) => order.id),
  };
}
