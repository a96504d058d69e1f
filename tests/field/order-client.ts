import { type FieldApi, get, getAll } from "./field-api.ts";

interface Order {
  id: string;
  reportId: string;
  total: number;
  isCanceled: boolean;
  isTransferred: boolean;
}

const atOnce = 20;

/** Copies every order of a period: a report names its orders, and they are fetched twenty at a time. */
export async function copyOrders(api: FieldApi): Promise<Order[]> {
  const reports = await getAll<{ id: string; orders: string[] }>(api, "/v1/reports");
  const ids = reports.flatMap(({ orders }) => orders);
  const copied: Order[] = [];
  for (let start = 0; start < ids.length; start += atOnce) {
    const some = ids.slice(start, start + atOnce);
    copied.push(...(await Promise.all(some.map((id) => get<Order>(api, `/v1/orders/${id}`)))));
  }
  return copied;
}

/** Every order of a location, page by page. */
export function listOrders(api: FieldApi): Promise<Order[]> {
  return getAll<Order>(api, "/v1/orders");
}
