import { createApiClient } from "@pragma/client";

const client = createApiClient({
  baseUrl: "http://127.0.0.1:4000",
  apiKey: process.env.PRAGMA_API_KEY ?? "",
});

const { data: page } = await client.GET("/v2/reports", { params: { query: { size: 2 } } });
for (const report of page.data) console.log(report.startedAt, report.totalSales);
