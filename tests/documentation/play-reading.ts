import { drawnTill, type Stage } from "./stage.ts";

/** From the first call to a report, its orders and the catalogue. */
export async function playReading({ recorder }: Stage): Promise<void> {
  const { exchange, ask } = recorder;
  await exchange("health", { path: "/health/", key: null });
  await exchange("own-location", { path: "/v1/locations/own" });
  const reports = await exchange("reports", { path: "/v2/reports/?size=3" });
  const drawn = reports.data.find(({ startedAt }: { startedAt: string }) => startedAt === drawnTill.startedAt);
  const report = await exchange("report", { path: `/v2/reports/${drawn.id}` });
  await exchange("orders-of-report", { path: `/v1/orders/?reportId=${report.id}&size=1` });

  await exchange("page-by-index", { path: "/v2/reports/?index=1&size=2" });
  const first = await exchange("page-by-token", { path: "/v2/reports/?size=2" });
  await exchange("next-page-by-token", {
    path: `/v2/reports/?size=2&pageToken=${encodeURIComponent(first.nextPageToken)}`,
  });
  await exchange("reports-of-days", { path: "/v2/reports/?since=2026-05-29&until=2026-05-30" });
  const { response } = await ask({ path: `/v2/reports/${report.id}` });
  await exchange("not-modified", {
    path: `/v2/reports/${report.id}`,
    headers: { "if-none-match": response.headers.get("etag") ?? "" },
  });
}
