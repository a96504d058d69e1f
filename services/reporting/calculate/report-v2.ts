import { plus } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { cancellations } from "./cancellations.ts";
import { clerkShifts } from "./clerk-shifts.ts";
import type { CountedOrder } from "./counting.ts";
import { discounts } from "./discounts.ts";
import { declaredPayments, entries } from "./drawer.ts";
import { menus } from "./menus.ts";
import { modifiers } from "./modifiers.ts";
import { products } from "./products.ts";
import { recordedPayments } from "./recorded-payments.ts";
import { rooms } from "./rooms.ts";
import { taxes } from "./taxes.ts";
import { transfers } from "./transfers.ts";

/** Where a report belongs and which calculation made it. */
export interface ReportIdentity {
  id: string;
  locationId: string;
  reportVersion: number;
}

/** The end-of-day report of a till that is not training, from its orders as they count. */
export function reportV2(till: TillV2, orders: CountedOrder[], identity: ReportIdentity): ReportV2 {
  const sales = orders.filter((counted) => counted.counts).map((counted) => counted.order);
  const rows = orders.flatMap((counted) => counted.rows);
  return {
    ...identity,
    tillId: till.id,
    startedAt: till.startedAt,
    finalizedAt: till.finalizedAt,
    deviceName: till.deviceName ?? "",
    deviceIdentifier: till.deviceIdentifier ?? "",
    reportNumber: till.reportNumber,
    guestsNumber: sales.reduce((sum, order) => plus(sum, order.guestsCount), 0),
    totalSales: sales.reduce((sum, order) => plus(sum, order.total), 0),
    clerkName: till.clerkName ?? "",
    clerkId: till.clerkId ?? "",
    initialCashBalance: till.initialCashBalance ?? 0,
    finalCashBalance: till.finalCashBalance ?? 0,
    orderCount: sales.length,
    establishmentName: till.establishmentName ?? "",
    siretCode: till.siretCode ?? "",
    customHeader: till.customHeader ?? "",
    customFooter: till.customFooter ?? "",
    companyName: till.companyName ?? "",
    phoneNumber: till.phoneNumber ?? "",
    website: till.website ?? "",
    locale: till.locale,
    address1: till.address1 ?? "",
    address2: till.address2,
    logoUrl: till.logoUrl,
    zipCode: till.zipCode ?? "",
    tvaCode: till.tvaCode ?? "",
    country: till.country ?? "",
    nafCode: till.nafCode ?? "",
    city: till.city ?? "",
    note: till.note,
    reportRecordedPayments: recordedPayments(orders),
    reportCancellations: cancellations(orders),
    reportTransferred: transfers(orders),
    reportModifiers: modifiers(rows),
    reportEntries: entries(till.financialMovementList),
    reportDiscounts: discounts(rows),
    reportProducts: products(rows),
    reportClerksShift: clerkShifts(till.clerkShiftList, orders),
    reportPayments: declaredPayments(till.declaredPaymentList),
    reportRooms: rooms(sales),
    reportMenus: menus(orders.flatMap((counted) => counted.menus)),
    reportTaxes: taxes(rows),
    orders: orders.map(({ order: { id, roomName, openedAt, closedAt, tableName, operatorName, total } }) => ({
      id,
      roomName,
      openedAt,
      closedAt,
      tableName,
      operatorName,
      total,
    })),
  };
}
