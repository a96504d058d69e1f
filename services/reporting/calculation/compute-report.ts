import type { OrderV2 } from "@pragma/contracts/order-data";
import type { ReportListItem, ReportV2 } from "@pragma/contracts/report-v2";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { toCountedOrders } from "./counted-orders.ts";
import { type OrderV1WithoutTimestamps, toOrderV1 } from "./order-v1.ts";
import { reportIdOfTill } from "./report-id.ts";
import { type ReportV0WithoutTimestamps, toReportV0 } from "./report-v0.ts";
import { computeReportV2 } from "./report-v2.ts";

/** Which calculation this is. It grows when the same till would yield other figures, so that reports can be made again. */
export const currentReportVersion = 1;

/** Everything that readers get from a till, in each of its shapes. */
export interface ComputedReport {
  id: string;
  reportV2: ReportV2;
  /** Without createdAt and updatedAt, which are the store's. */
  reportV0: ReportV0WithoutTimestamps;
  listItem: ReportListItem;
  /** Every order that is not training, in the till's order. */
  orders: ComputedOrder[];
}

export interface ComputedOrder {
  id: string;
  openedAt: string;
  /** Without createdAt and updatedAt, which are the store's. */
  v1: OrderV1WithoutTimestamps;
  /** Without createdAt and updatedAt, which are the store's. */
  v2: Omit<OrderV2, "createdAt" | "updatedAt">;
}

/**
 * The report and orders of a till, to the cent and always the same for the same till. Null for a till made in school
 * mode, which yields none.
 *
 * Amounts that the point of sale declared are fiscal figures: they are summed, never computed again.
 *
 * @throws AmountOutOfRange when a sum is beyond what JSON numbers hold exactly
 */
export function computeReport(till: TillV2, { locationId }: { locationId: string }): ComputedReport | null {
  if (till.isTraining) return null;
  const id = reportIdOfTill(till.id);
  const orders = toCountedOrders(till.orderList);
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
      // Whole, as the point of sale sent it; one that does not name its till gets the till that it came with.
      v2: { ...order, tillId: order.tillId ?? till.id, ...ids },
    })),
  };
}
