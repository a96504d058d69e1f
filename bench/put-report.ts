import { reportIdOf } from "@pragma/reporting/calculate/report-id";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { Product } from "./product.ts";
import type { Shop } from "./shop.ts";
import { shiftTill } from "./tills.ts";

/** Pushes the till of a busy shift, once, and waits for its report. @returns the report's path. */
export async function putReport({ url }: Pick<Product, "url">, { headers }: Shop): Promise<string> {
  const type = { "content-type": "application/json" };
  const reply = await fetch(`${url}/v2/tills/`, { method: "POST", headers: { ...headers, ...type }, body: shiftTill });
  if (!reply.ok) throw new Error(`The till was answered with ${reply.status}: ${await reply.text()}`);
  const { tillId } = (await reply.json()) as { tillId: string };
  const path = `/v2/reports/${reportIdOf(tillId)}`;
  await eventually("the report of the till", async () => {
    const answer = await fetch(url + path, { headers });
    await answer.arrayBuffer();
    return answer.ok;
  });
  return path;
}
