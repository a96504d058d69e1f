import type { BenchLocation } from "../bench-location.ts";
import type { BenchPragmaDeployment } from "../bench-pragma-deployment.ts";

const measuredReads = 40;

/** Returns the durations of reading pages of 100 orders and single orders, in milliseconds. */
export async function measureReads(
  { url }: BenchPragmaDeployment,
  { headers }: BenchLocation,
): Promise<{ page: number[]; order: number[] }> {
  const readTimed = async (path: string) => {
    const startedMs = performance.now();
    const response = await fetch(`${url}${path}`, { headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`GET ${path} returned ${response.status}: ${text}`);
    return { text, milliseconds: performance.now() - startedMs };
  };
  const durations: { page: number[]; order: number[] } = { page: [], order: [] };
  let nextPageToken = "";
  for (let read = 0; read < measuredReads; read += 1) {
    const { text, milliseconds } = await readTimed(
      `/v1/orders/?size=100${nextPageToken && `&pageToken=${nextPageToken}`}`,
    );
    durations.page.push(milliseconds);
    const page = JSON.parse(text) as { data: { id: string }[]; nextPageToken: string | null };
    nextPageToken = page.nextPageToken ?? "";
    const id = page.data[read % page.data.length]?.id;
    durations.order.push((await readTimed(`/v1/orders/${id}`)).milliseconds);
  }
  return durations;
}
