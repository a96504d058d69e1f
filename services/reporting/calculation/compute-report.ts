import type { OrderV2 } from "@pragma/contracts/order-data";
import type { ReportListItem } from "@pragma/contracts/report-v2";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { toOrderV1 } from "./order-v1.ts";
import { toReportV0 } from "./report-v0.ts";
import { computeReportV2 } from "./report-v2.ts";
import { toReportableOrders } from "./reportable-orders.ts";

/**
 * Version of the calculation. Increase it when a code change alters the figures of existing tills, so that a bulk
 * reprocessing can select the reports of earlier versions.
 */
export const currentReportVersion = 1;

/** A report and its orders in all API versions. */
export type ComputedDocuments = NonNullable<ReturnType<typeof computeDocuments>>;

/**
 * Returns the report and orders of a till, or null for a till in training mode. Amounts that the point of sale declared
 * are summed but never recomputed, because they are fiscal figures.
 *
 * @throws `AmountOutOfRangeError` when a sum is too large to be represented exactly as a JSON number.
 */
export function computeDocuments(till: TillV2, { locationId }: { locationId: string }) {
  if (till.isTraining) return null;
  const id = computeTillReportId(till.id);
  const orders = toReportableOrders(till.orderList);
  const v2 = computeReportV2(till, orders, { id, locationId, reportVersion: currentReportVersion });
  const ids = { locationId, reportId: id };
  return {
    id,
    reportV2: v2,
    reportV0: toReportV0(v2, orders),
    /** Without the id of the till, which lists add. */
    listItem: {
      ...{ id, startedAt: v2.startedAt, finalizedAt: v2.finalizedAt, totalSales: v2.totalSales },
    } satisfies Omit<ReportListItem, "tillId">,
    /** All orders except those in training mode, in the same sequence as in the till. */
    orders: orders.map(({ order }) => ({
      id: order.id,
      openedAt: order.openedAt,
      v1: toOrderV1(order, ids),
      // A V2 order has all fields that the point of sale sent. If `tillId` is missing, it is the id of this till.
      v2: { ...order, tillId: order.tillId ?? till.id, ...ids } satisfies Omit<OrderV2, "createdAt" | "updatedAt">,
    })),
    reportableOrders: orders,
  };
}
