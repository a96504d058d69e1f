import { type DocumentationExampleLocation, documentationHomePageTill } from "./documentation-fixture.ts";
import { documentationEdgeCaseOrders } from "./edge-case-till.ts";

/** Records the examples of the guides for applications that read reports and orders. */
export async function recordReadingGuideExamples(
  { recorder, key }: DocumentationExampleLocation,
  url: string,
): Promise<void> {
  const { recordExchange } = recorder;
  const day = "2026-05-30";
  await recordExchange("totals-reports-of-day", { path: `/v2/reports?since=${day}&until=${day}` });
  const refund = documentationHomePageTill.orderList.find(({ leftToPay }) => leftToPay < 0);
  if (!refund) throw new Error("The day of the home page has no refund that was not paid out.");
  await recordExchange("totals-unpaid-refund", { path: `/v2/orders/${refund.id}` });

  const { canceledAfterPayment } = documentationEdgeCaseOrders;
  await recordExchange("edge-canceled-after-payment", { path: `/v1/orders/${canceledAfterPayment.id}` });

  const metrics = (query: Record<string, string>) => `/v1/metrics?${new URLSearchParams(query)}`;
  const ofDay = { since: day, until: day };
  await recordExchange("metrics-meta", { path: "/v1/metrics/meta" });
  await recordExchange("metrics-by-product", {
    path: metrics({ measures: "sales,quantity", dimensions: "product", ...ofDay, limit: "5" }),
  });
  await recordExchange("metrics-compared", {
    path: metrics({ measures: "sales,orders", dimensions: "room", ...ofDay, compare: "previous_period" }),
  });
  await recordExchange("metrics-by-hour", {
    path: metrics({ measures: "sales,orders", dimensions: "hour", ...ofDay, compare: "previous_period", sort: "hour" }),
  });
  const csvPath = metrics({ measures: "payments,tips", dimensions: "paymentMethod", ...ofDay });
  const csv = await fetch(`${url}${csvPath}`, { headers: { accept: "text/csv", authorization: `Bearer ${key}` } });
  recorder.recordExample("metrics-csv", { path: csvPath, text: (await csv.text()).replaceAll("\r\n", "\n") });
  await recordExchange("metrics-invalid", {
    path: metrics({ measures: "orders", dimensions: "product", ...ofDay }),
  });

  const month = "/v1/orders?since=2026-05-01&until=2026-05-31&size=2";
  const first = await recordExchange("month-first-page", { path: month });
  await recordExchange("month-next-page", {
    path: `${month}&pageToken=${encodeURIComponent(first.nextPageToken)}`,
  });
}
