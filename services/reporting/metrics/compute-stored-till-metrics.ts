import type { OrderV2 } from "@pragma/contracts/order-data";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { toReportableOrders } from "../calculation/reportable-orders.ts";
import { decodeDocuments, type StoredDocument } from "../stored-documents.ts";
import { computeTillMetrics, type TillMetrics } from "./till-metrics.ts";

/** The responses of a till as they are stored. */
export interface StoredTillDocuments {
  report: StoredDocument;
  /** In any sequence. */
  orders: StoredDocument[];
  timeZone: string;
}

/**
 * Returns the metrics of a till from its stored responses, which contain all fields that the point of sale
 * sent; null if a sum is too large. Runs in a worker thread, because a till can be large.
 */
export default function computeStoredTillMetrics({
  report: storedReport,
  orders: storedOrders,
  timeZone,
}: StoredTillDocuments): TillMetrics | null {
  const [reportText = ""] = decodeDocuments([storedReport], Number.MAX_SAFE_INTEGER);
  const report = JSON.parse(reportText) as ReportV2;
  const ordersById = new Map<string, OrderV2>();
  for (const text of decodeDocuments(storedOrders, Number.MAX_SAFE_INTEGER)) {
    const order = JSON.parse(text) as OrderV2;
    ordersById.set(order.id, order);
  }
  // The sequence in the till decides to which cell the difference to a quantity of the report belongs.
  const orders = report.orders.map(({ id }) => {
    const order = ordersById.get(id);
    if (!order) throw new Error(`The order ${id} of the report ${report.id} is not stored.`);
    return order;
  });
  return computeTillMetrics(toReportableOrders(orders), report, { timeZone });
}
