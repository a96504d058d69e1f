import {
  fetchAllPagesAsOlderTestClient,
  fetchAsOlderTestClient,
  type OlderTestClientSettings,
} from "./field-client-api.ts";

interface Order {
  id: string;
  reportId: string;
  total: number;
  isCanceled: boolean;
  isTransferred: boolean;
}

const maxConcurrentRequests = 20;

/** Returns every order whose id is in a listed report. Requests up to twenty orders concurrently. */
export async function fetchReportAsOlderClient(api: OlderTestClientSettings): Promise<Order[]> {
  const reports = await fetchAllPagesAsOlderTestClient<{ id: string; orders: string[] }>(api, "/v1/reports");
  const ids = reports.flatMap(({ orders }) => orders);
  const copied: Order[] = [];
  for (let start = 0; start < ids.length; start += maxConcurrentRequests) {
    const batch = ids.slice(start, start + maxConcurrentRequests);
    copied.push(...(await Promise.all(batch.map((id) => fetchAsOlderTestClient<Order>(api, `/v1/orders/${id}`)))));
  }
  return copied;
}

/** Returns every order of a location from its list of orders. */
export function fetchOrdersAsOlderClient(api: OlderTestClientSettings): Promise<Order[]> {
  return fetchAllPagesAsOlderTestClient<Order>(api, "/v1/orders");
}
