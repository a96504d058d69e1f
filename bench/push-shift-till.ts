import { reportIdOfTill } from "@pragma/reporting/calculation/report-id";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { BenchLocation } from "./bench-location.ts";
import type { ProductUnderLoad } from "./product-under-load.ts";
import { busyShiftTillJson } from "./sample-tills.ts";

/** Pushes the till of a busy shift, once, and waits for its report. @returns the report's path. */
export async function pushShiftTillAndAwaitReport(
  { url }: Pick<ProductUnderLoad, "url">,
  { headers }: BenchLocation,
): Promise<string> {
  const type = { "content-type": "application/json" };
  const reply = await fetch(`${url}/v2/tills/`, {
    method: "POST",
    headers: { ...headers, ...type },
    body: busyShiftTillJson,
  });
  if (!reply.ok) throw new Error(`The till was answered with ${reply.status}: ${await reply.text()}`);
  const { tillId } = (await reply.json()) as { tillId: string };
  const path = `/v2/reports/${reportIdOfTill(tillId)}`;
  await eventually("the report of the till", async () => {
    const answer = await fetch(url + path, { headers });
    await answer.arrayBuffer();
    return answer.ok;
  });
  return path;
}
