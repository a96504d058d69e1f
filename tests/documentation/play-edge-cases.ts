import { edgeOrders, edgeTill } from "./edge-till.ts";
import type { Stage } from "./stage.ts";

/** The orders and the report of the day on which everything happened that is not a plain sale. */
export async function playEdgeCases({ recorder }: Stage): Promise<void> {
  const { exchange, ask } = recorder;
  for (const name of ["split", "canceledRow", "loss", "weight", "groupDiscount"] as const) {
    const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    await exchange(`edge-${dashed}`, { path: `/v1/orders/${edgeOrders[name].id}` });
  }
  const { body: reports } = await ask({ path: "/v2/reports/?since=2026-05-31&until=2026-05-31" });
  await exchange("edge-report", { path: `/v2/reports/${reports.data[0].id}` });
  await exchange("edge-till", { path: `/v1/tills/${edgeTill.id}` });
}
