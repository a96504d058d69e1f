import type { DocumentationFixture } from "./documentation-fixture.ts";
import { edgeCaseOrders, edgeCaseTill } from "./edge-case-till.ts";

/** Records the orders, the report and the till of the edge cases. */
export async function recordEdgeCases({ recorder }: DocumentationFixture): Promise<void> {
  const { recordExchange, sendRequest } = recorder;
  for (const name of ["split", "canceledRow", "loss", "weight", "groupDiscount"] as const) {
    const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    await recordExchange(`edge-${dashed}`, { path: `/v1/orders/${edgeCaseOrders[name].id}` });
  }
  const { body: reports } = await sendRequest({ path: "/v2/reports/?since=2026-05-31&until=2026-05-31" });
  await recordExchange("edge-report", { path: `/v2/reports/${reports.data[0].id}` });
  await recordExchange("edge-till", { path: `/v1/tills/${edgeCaseTill.id}` });
}
