import type { OrderV2 } from "@pragma/contracts/order-data";
import type { ReportListItem, ReportV2 } from "@pragma/contracts/report-v2";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { type OrderV1WithoutTimestamps, toOrderV1 } from "./order-v1.ts";
import { type ReportV0WithoutTimestamps, toReportV0 } from "./report-v0.ts";
import { computeReportV2 } from "./report-v2.ts";
import { type ReportableOrder, toReportableOrders } from "./reportable-orders.ts";

/**
 * Version of the calculation. Increase it when a code change alters the figures of existing tills, so that a bulk
 * reprocessing can select the reports of earlier versions.
 */
export const currentReportVersion = 1;

/** A report and its orders in all API versions. */
export interface ComputedDocuments {
  id: string;
  reportV2: ReportV2;
  reportV0: ReportV0WithoutTimestamps;
  /** Without the id of the till, which lists add. */
  listItem: Omit<ReportListItem, "tillId">;
  /** All orders except those in training mode, in the same sequence as in the till. */
  orders: ComputedOrderResponseBodies[];
  reportableOrders: ReportableOrder[];
}

export interface ComputedOrderResponseBodies {
  id: string;
  openedAt: string;
  v1: OrderV1WithoutTimestamps;
  v2: Omit<OrderV2, "createdAt" | "updatedAt">;
}

/**
 * Returns the report and orders of a till, or null for a till in training mode. The same till always yields the same
 * result.
 *
 * Amounts that the point of sale declared are summed but never recomputed, because they are fiscal figures. Only
 * amounts that it does not declare, such as the VAT of discounts, are computed.
 *
 * @throws `AmountOutOfRangeError` when a sum is too large to be represented exactly as a JSON number.
 */
export function computeDocuments(till: TillV2, { locationId }: { locationId: string }): ComputedDocuments | null {
  if (till.isTraining) return null;
  const id = computeTillReportId(till.id);
  const orders = toReportableOrders(till.orderList);
  const v2 = computeReportV2(till, orders, { id, locationId, reportVersion: currentReportVersion });
  const ids = { locationId, reportId: id };
  return {
    id,
    reportV2: v2,
    reportV0: toReportV0(v2, orders),
    listItem: { id, startedAt: v2.startedAt, finalizedAt: v2.finalizedAt, totalSales: v2.totalSales },
    orders: orders.map(({ order }) => ({
      id: order.id,
      openedAt: order.openedAt,
      v1: toOrderV1(order, ids),
      // A V2 order has all fields that the point of sale sent. If `tillId` is missing, it is the id of this till.
      v2: { ...order, tillId: order.tillId ?? till.id, ...ids },
    })),
    reportableOrders: orders,
  };
}
