// Usage: PRAGMA_API_KEY=… npx tsx differences.mts 2026-05-30
import { createApiClient } from "@pragma/client";

const { PRAGMA_URL = "http://127.0.0.1:4000", PRAGMA_API_KEY = "" } = process.env;
const client = createApiClient({ baseUrl: PRAGMA_URL, apiKey: PRAGMA_API_KEY });
const day = process.argv[2];
if (day === undefined) throw new Error("Pass the date as the argument: npx tsx differences.mts 2026-05-30");

for await (const report of client.items("/v2/reports", { params: { query: { since: day, until: day } } })) {
  for await (const order of client.items("/v1/orders", { params: { query: { reportId: report.id } } })) {
    const sale = order.isCanceled || order.isTransferred ? 0 : order.total;
    const paid = order.payments.reduce((sum, { paymentAmount }) => sum + paymentAmount, 0);
    if (paid !== sale) console.log(`${order.id}: sale ${sale}, paid ${paid}, difference ${paid - sale}`);
  }
}
