import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { BenchLocation } from "./bench-location.ts";
import type { BenchPragmaDeployment } from "./bench-pragma-deployment.ts";
import { benchBusyShiftTillJson } from "./sample-tills.ts";

/** Pushes the till of a busy shift and waits for the report. @returns the path of the report. */
export async function pushBenchTillAndAwaitReport(
  { url }: Pick<BenchPragmaDeployment, "url">,
  { headers }: BenchLocation,
): Promise<string> {
  const jsonHeaders = { "content-type": "application/json" };
  const response = await fetch(`${url}/v2/tills/`, {
    method: "POST",
    headers: { ...headers, ...jsonHeaders },
    body: benchBusyShiftTillJson,
  });
  if (!response.ok) throw new Error(`The push of the till returned ${response.status}: ${await response.text()}`);
  const { tillId } = (await response.json()) as { tillId: string };
  const path = `/v2/reports/${computeTillReportId(tillId)}`;
  await eventually("the report of the till", async () => {
    const reportResponse = await fetch(url + path, { headers });
    await reportResponse.arrayBuffer();
    return reportResponse.ok;
  });
  return path;
}
