import { type DocumentationFixture, homePageTill } from "./documentation-fixture.ts";

/** Records reads of the API: health, location, reports, orders and pages. */
export async function recordReads({ recorder }: DocumentationFixture): Promise<void> {
  const { recordExchange, sendRequest } = recorder;
  await recordExchange("health", { path: "/health/", key: null });
  await recordExchange("own-location", { path: "/v1/locations/own" });
  const reports = await recordExchange("reports", { path: "/v2/reports/?size=3" });
  const homePageReport = reports.data.find(
    ({ startedAt }: { startedAt: string }) => startedAt === homePageTill.startedAt,
  );
  const report = await recordExchange("report", { path: `/v2/reports/${homePageReport.id}` });
  await recordExchange("orders-of-report", { path: `/v1/orders/?reportId=${report.id}&size=1` });

  await recordExchange("page-by-index", { path: "/v2/reports/?index=1&size=2" });
  const first = await recordExchange("page-by-token", { path: "/v2/reports/?size=2" });
  await recordExchange("next-page-by-token", {
    path: `/v2/reports/?size=2&pageToken=${encodeURIComponent(first.nextPageToken)}`,
  });
  await recordExchange("reports-of-days", { path: "/v2/reports/?since=2026-05-29&until=2026-05-30" });
  const { response } = await sendRequest({ path: `/v2/reports/${report.id}` });
  await recordExchange("not-modified", {
    path: `/v2/reports/${report.id}`,
    headers: { "if-none-match": response.headers.get("etag") ?? "" },
  });
}
